package manage

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"github.com/mcphud/mcphud/session/test/require"
)

var update = flag.Bool("update", false, "compile proto/mcp.proto")

// What is embedded is the file that people read, and its methods are the operations.
func TestG1_G3_TheProtoIsWhatIsServed(t *testing.T) {
	c := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{"proto"}}}
	files, err := c.Compile(t.Context(), "mcp.proto")
	require.NoError(t, err)
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(protodesc.ToFileDescriptorProto(files[0]))
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("proto/mcp.binpb", want, 0o644))
	} else if !bytes.Equal(descriptor, want) {
		t.Fatal("proto/mcp.binpb is not mcp.proto compiled: run go test ./proxy/manage -run Proto -update")
	}
	methods := files[0].Services().Get(0).Methods()
	if methods.Len() != len(operations) {
		t.Errorf("%d methods, and %d operations", methods.Len(), len(operations))
	}
	for i := range methods.Len() {
		if i < len(operations) && string(methods.Get(i).Name()) != operations[i].name {
			t.Errorf("%s stands where %s does", methods.Get(i).Name(), operations[i].name)
		}
	}
}
