package jsonrpc_test

import (
	"errors"
	"fmt"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// The envelope of a frame is read without unmarshalling what it carries.
func ExampleScan() {
	env, err := jsonrpc.Scan([]byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(env.Kind, env.Method, string(env.ID), jsonrpc.GetString(env.Params, "name"))
	// Output:
	// request tools/call 7 echo
}

// Members are changed one by one; all other bytes stay as they are.
func ExampleUpdate() {
	params := []byte(`{"name": "echo", "arguments": {"n": 1.0}, "task": {}}`)
	params, err := jsonrpc.Update(params,
		jsonrpc.Default([]byte(`7`), "_meta", "progressToken"),
		jsonrpc.Set([]byte(`"shout"`), "name"),
		jsonrpc.Delete("task"),
	)
	fmt.Println(string(params), err)
	// Output:
	// {"name": "shout", "arguments": {"n": 1.0},"_meta":{"progressToken":7}} <nil>
}

// A handler says why there is no result; the number depends on the revision of the protocol.
func ExampleRequestError() {
	err := error(jsonrpc.Errorf(jsonrpc.KindToolNotFound, "Tool '%s' not found", "x").With("field", "name"))
	var e *jsonrpc.RequestError
	if errors.As(err, &e) {
		wire := e.RPC(true)
		fmt.Println(wire.Code, wire.Message, string(wire.Data), e.HTTPStatus(true))
	}
	// Output:
	// -32602 Tool 'x' not found {"field":"name","kind":"tool_not_found"} 400
}
