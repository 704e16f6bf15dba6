package listen

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func closeAll(all []net.Listener) {
	for _, l := range all {
		_ = l.Close()
	}
}

func hasIPv6(t *testing.T) bool {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

func TestA1_ListensOnBothLoopbacks(t *testing.T) {
	for _, host := range []string{"", "127.0.0.1", "localhost", "::1"} {
		all, err := Listen(t.Context(), host, 0)
		require.NoError(t, err)
		first := all[0].Addr().(*net.TCPAddr)
		if !first.IP.Equal(net.IPv4(127, 0, 0, 1)) || first.Port == 0 {
			t.Errorf("%q: %v", host, first)
		}
		if hasIPv6(t) {
			if len(all) != 2 || all[1].Addr().String() != fmt.Sprintf("[::1]:%d", first.Port) {
				t.Errorf("%q: %v", host, all)
			}
		}
		closeAll(all)
	}
	hosts := []string{"0.0.0.0"}
	if runtime.GOOS == "linux" { // where all of 127/8 is this machine
		hosts = append(hosts, "127.0.0.2")
	}
	for _, host := range hosts {
		all, err := Listen(t.Context(), host, 0)
		if err != nil || len(all) != 1 || host != "0.0.0.0" && !strings.HasPrefix(all[0].Addr().String(), host+":") {
			t.Fatal(all, err)
		}
		closeAll(all)
	}
}

func TestA1_TakenPortNamesItsHolder(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		held, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
		if err != nil {
			t.Log(addr, err)
			continue
		}
		port := held.Addr().(*net.TCPAddr).Port
		all, err := Listen(t.Context(), "127.0.0.1", port)
		if err == nil {
			closeAll(all)
			t.Fatalf("%s: a taken port was opened", addr)
		}
		if !strings.Contains(err.Error(), "taken") || !strings.Contains(err.Error(), fmt.Sprint(port)) {
			t.Error(err)
		}
		if runtime.GOOS == "linux" && !strings.Contains(err.Error(), fmt.Sprintf("(pid %d)", os.Getpid())) {
			t.Errorf("it does not say who has the port: %v", err)
		}
		_ = held.Close()
		if all, err = Listen(t.Context(), "127.0.0.1", port); err != nil { // nothing was left open by the failure
			t.Error(err)
		}
		closeAll(all)
	}
	if _, err := Listen(t.Context(), "192.0.2.1", 0); err == nil || !strings.Contains(err.Error(), "192.0.2.1") {
		t.Error(err)
	}
}

// Over TLS, what names no port names 443.
func TestGuardKnowsTheStandardPorts(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	guard := Guard(ok, "agent.example")
	for _, c := range []struct {
		url    string
		port   int
		origin string
		want   int
	}{
		{"https://localhost/", 443, "", 418},
		{"https://localhost/", 443, "https://localhost", 418},
		{"https://localhost/", 443, "https://localhost:443", 418},
		{"https://localhost:443/", 443, "https://localhost", 418},
		{"https://agent.example/", 8443, "https://agent.example", 418},
		{"https://agent.example/", 443, "https://agent.example:80", 403},
		{"https://localhost/", 443, "http://localhost", 403},
		{"https://localhost/", 80, "", 403},
		{"https://localhost:80/", 443, "", 403},
		{"http://localhost/", 443, "", 403},
		{"http://localhost/", 80, "http://localhost", 418},
		{"http://localhost/", 80, "https://localhost", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, c.url, nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.port}))
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		if guard.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
	}
}

func TestGuard(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	web := httptest.NewServer(Guard(ok, "agent.example"))
	defer web.Close()
	defer http.DefaultClient.CloseIdleConnections()
	addr := strings.TrimPrefix(web.URL, "http://")
	_, port, _ := strings.Cut(addr, ":")
	for _, c := range []struct {
		host    string
		origins []string
		want    int
	}{
		{addr, nil, 418},
		{"localhost:" + port, nil, 418},
		{"LOCALHOST:" + port, nil, 418},
		{"[::1]:" + port, nil, 418},
		{"agent.example", nil, 418},
		{"agent.example:" + port, nil, 418},
		{"Agent.Example:8443", nil, 418},
		{"evil.example", nil, 403},
		{"evil.example:" + port, nil, 403},
		{"127.0.0.1.evil.example:" + port, nil, 403},
		{"localhost.evil.example:" + port, nil, 403},
		{"127.0.0.1:1", nil, 403},
		{"localhost", nil, 403},
		{"2130706433:" + port, nil, 403},
		{"0.0.0.0:" + port, nil, 403},
		{addr, []string{"http://" + addr}, 418},
		{"localhost:" + port, []string{"http://localhost:" + port}, 418},
		{addr, []string{"http://" + addr, "http://" + addr}, 403},
		{addr, []string{"null"}, 403},
		{addr, []string{""}, 403},
		{addr, []string{"http://evil.example"}, 403},
		{addr, []string{"https://" + addr}, 403},
		{addr, []string{"http://localhost:" + port}, 403},
		{addr, []string{"http://127.0.0.1:1"}, 403},
		{addr, []string{"http://127.0.0.1"}, 403},
		{addr, []string{"http://x@" + addr}, 403},
		{addr, []string{"http://" + addr + "/"}, 403},
		{addr, []string{"http://" + addr + "?x"}, 403},
		{"agent.example", []string{"http://agent.example"}, 418},
		{"agent.example", []string{"http://agent.example:81"}, 403},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL, nil)
		require.NoError(t, err)
		r.Host = c.host
		r.Header["Origin"] = c.origins
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		var body struct{ Error, Detail string }
		if c.want == 403 {
			if err := json.NewDecoder(res.Body).Decode(&body); err != nil || body.Error != "forbidden" || body.Detail == "" || res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %v: %+v %v", c.host, c.origins, body, err)
			}
		}
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s %q: %d, want %d (%s)", c.host, c.origins, res.StatusCode, c.want, body.Detail)
		}
	}
}

// What looks like an address of the Internet may stand for one that is near.
func TestReach(t *testing.T) {
	for host, want := range map[string]Reach{
		"localhost": Machine, "a.LOCALHOST.": Machine, "127.8.9.1": Machine, "[::1]": Machine, "0.0.0.0": Machine, "[::]": Machine, "[::ffff:127.0.0.1]": Machine,
		"[::127.0.0.1]": Machine, "[64:ff9b::7f00:1]": Machine, "[2002:7f00:1::]": Machine,
		"10.1.2.3": Network, "172.31.0.1": Network, "192.168.1.1": Network, "169.254.169.254": Network, "100.100.100.200": Network, "0.1.2.3": Network,
		"192.0.0.192": Network, "198.18.0.1": Network, "224.0.0.1": Network, "255.255.255.255": Network, "[::ffff:169.254.169.254]": Network,
		"[64:ff9b::a9fe:a9fe]": Network, "[64:ff9b:1::1]": Network, "[2002:a00:1::1]": Network, "[fd00:ec2::254]": Network, "[fe80::1%25eth0]": Network,
		"[fec0::1]": Network, "[ff02::1]": Network,
		"example.com": Anywhere, "8.8.8.8": Anywhere, "100.128.0.1": Anywhere, "[2606:4700::1111]": Anywhere, "[64:ff9b::808:808]": Anywhere, "[2002:808:808::1]": Anywhere,
	} {
		u, err := url.Parse("https://" + host + "/")
		require.NoError(t, err)
		assert.Equalf(t, ReachOf(u), want, "%s", host)
	}
}
