package manage_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	reflect "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

const service = "mcphud.manage.v1.McpManagement"

// stub is a client that knows the service by reflection alone, as grpcurl does.
type stub struct {
	*grpc.ClientConn
	t       *testing.T
	methods protoreflect.MethodDescriptors
}

// each runs a test over the socket, and over TLS with a certificate.
func each(t *testing.T, test func(t *testing.T, g *rig, c *stub)) {
	for _, tls := range []bool{false, true} {
		t.Run(map[bool]string{false: "socket", true: "TLS"}[tls], func(t *testing.T) {
			g := start(t, "")
			at, with := "unix:"+g.ManageSocket(), insecure.NewCredentials()
			if tls {
				at, with = g.ManageAddr().String(), credentials.NewTLS(g.manager(t))
			}
			test(t, g, dialGRPC(t, at, with))
		})
	}
}

func dialGRPC(t *testing.T, at string, with credentials.TransportCredentials) *stub {
	t.Helper()
	c, err := grpc.NewClient(at, grpc.WithTransportCredentials(with))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	info, err := reflect.NewServerReflectionClient(c).ServerReflectionInfo(ctx)
	require.NoError(t, err)
	require.NoError(t, info.Send(&reflect.ServerReflectionRequest{MessageRequest: &reflect.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service}}))
	got, err := info.Recv()
	require.NoError(t, err)
	var file descriptorpb.FileDescriptorProto
	require.NoError(t, proto.Unmarshal(got.GetFileDescriptorResponse().GetFileDescriptorProto()[0], &file))
	d, err := protodesc.NewFile(&file, new(protoregistry.Files))
	require.NoError(t, err)
	return &stub{c, t, d.Services().Get(0).Methods()}
}

// call sends a request, written as JSON, and decodes what comes back into v; detail is that of an error.
func (s *stub) call(method, request string, v any) (st *status.Status, detail map[string]any) {
	s.t.Helper()
	m := s.methods.ByName(protoreflect.Name(method))
	in, out := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	require.NoError(s.t, protojson.Unmarshal([]byte(request), in))
	err := s.Invoke(s.t.Context(), "/"+service+"/"+method, in, out)
	st = status.Convert(err)
	for _, any := range st.Proto().GetDetails() {
		e := dynamicpb.NewMessage(m.ParentFile().Messages().ByName("Error"))
		if any.MessageIs(e) {
			require.NoError(s.t, proto.Unmarshal(any.Value, e))
			raw, _ := protojson.Marshal(e)
			_ = json.Unmarshal(raw, &detail)
		}
	}
	if err == nil && v != nil {
		raw, bad := protojson.Marshal(out)
		if bad == nil {
			bad = json.Unmarshal(raw, v)
		}
		require.NoError(s.t, bad)
	}
	return st, detail
}

func (s *stub) ok(method, request string, v any) {
	s.t.Helper()
	if st, _ := s.call(method, request, v); st.Code() != codes.OK {
		s.t.Fatalf("%s %s: %v", method, request, st)
	}
}

func (s *stub) fails(method, request string, code codes.Code, kind, says string) {
	s.t.Helper()
	st, detail := s.call(method, request, nil)
	if st.Code() != code || !strings.Contains(st.Message(), says) || detail["kind"] != kind {
		s.t.Errorf("%s %s: %v, %v; want %v, %s with %q", method, request, st, detail, code, kind, says)
	}
}

// The seven verbs do over gRPC what they do as JSON, on the same servers.
func TestG1_G3_TheSevenVerbsOverGRPC(t *testing.T) {
	each(t, sevenVerbs)
}

func sevenVerbs(t *testing.T, g *rig, c *stub) {
	var st struct{ Name, Status string }
	c.ok("RegisterMcpServer", g.stdio("files", behave.Good, `,"env":{"A":"1"},"timeout":"20s","waitReady":"1s"`), &st)
	if st.Name != "files" || st.Status != "Disconnected" {
		t.Errorf("%+v", st)
	}
	c.fails("GetMcpTools", named("files"), codes.FailedPrecondition, "ServerNotConnected", "ConnectMcpServer first")
	var met struct {
		Status, ProtocolVersion, ServerInfo, Capabilities string
		ToolCount                                         int `json:"tool_count"`
	}
	c.ok("ConnectMcpServer", named("files"), &met)
	if met.Status != "Connected" || met.ProtocolVersion == "" || met.ToolCount < 10 || !json.Valid([]byte(met.ServerInfo)) || !strings.Contains(met.Capabilities, "tools") {
		t.Errorf("%+v", met)
	}
	if e := g.entry("files"); e.Status != "Connected" || e.Env["A"] == "1" {
		t.Errorf("as JSON: %+v", e)
	}
	var all struct {
		Tools []struct{ Name, Server, Tool, Definition string }
	}
	c.ok("GetMcpTools", "{}", &all)
	asJSON := ok[tools](g, "GetMcpTools", "")
	if len(all.Tools) != len(asJSON.Tools) || all.Tools[0].Name != "mcp__files__echo" || all.Tools[0].Definition != string(asJSON.Tools[0].Definition) {
		t.Errorf("%+v", all)
	}
	var list struct {
		Servers []struct {
			Name, Source, Status string
			Env                  map[string]string
			ToolCount            *int `json:"tool_count"`
		}
	}
	c.ok("ListMcpServers", "{}", &list)
	if len(list.Servers) != 1 || list.Servers[0].Status != "Connected" || list.Servers[0].ToolCount == nil || list.Servers[0].Env["A"] == "1" {
		t.Errorf("%+v", list)
	}
	c.ok("DisconnectMcpServer", named("files"), &st)
	if st.Status != "Disconnected" || g.entry("files").Status != "Disconnected" {
		t.Errorf("%+v", st)
	}
	c.fails("ConnectMcpServer", named("nobody"), codes.NotFound, "ServerNotFound", "no such server")
	c.fails("RegisterMcpServer", `{"name":"a/b","hostPort":1}`, codes.InvalidArgument, "Usage", "is not a valid agent name")
	c.fails("RegisterMcpServer", `{"name":"a","hostPort":1,"url":"http://x/"}`, codes.InvalidArgument, "Usage", "exactly one")
	if status, answer := g.post("/"+service+"/ListMcpServers", ""); status != http.StatusNotFound {
		t.Errorf("the router's address answers managers: %d %s", status, answer)
	}
}

func TestG1_LogInOverGRPC(t *testing.T) {
	each(t, logIn)
}

func logIn(t *testing.T, _ *rig, c *stub) {
	s := authtest.Start(t, authtest.Knobs{})
	c.ok("RegisterMcpServer", web("docs", s.URL, `,"oauth":{"scopes":["mcp:read"]}`), nil)
	c.fails("ConnectMcpServer", named("docs"), codes.FailedPrecondition, "OAuth", "StartMcpOAuth")
	var flow started
	c.ok("StartMcpOAuth", `{"name":"docs","redirect_uri":"http://127.0.0.1:9/x"}`, &flow)
	if flow.Flow == "" || flow.Listening || flow.Expires.IsZero() || !strings.Contains(flow.URL, "mcp%3Aread") {
		t.Fatalf("%+v", flow)
	}
	c.fails("CompleteMcpOAuth", `{"flow":`+quote(flow.Flow)+`,"callback_url":"?state=x"}`, codes.InvalidArgument, "Usage", "another login")
	var met struct{ Status string }
	c.ok("CompleteMcpOAuth", `{"flow":`+quote(flow.Flow)+`,"callback_url":`+quote(browse(t, flow.URL).String())+`}`, &met)
	if met.Status != "Connected" {
		t.Errorf("%+v", met)
	}
}
