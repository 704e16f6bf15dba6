package manage

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/reflection"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// descriptor is mcp.proto compiled, a google.protobuf.FileDescriptorProto.
//
//go:embed proto/mcp.binpb
var descriptor []byte

// isGRPC reports whether a request is a call of gRPC, which shares the socket with the JSON operations.
func isGRPC(r *http.Request) bool {
	return r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// newGRPC makes the gRPC service: each method is the JSON operation of its name. Reflection describes it to clients.
func (s *Server) newGRPC() (*grpc.Server, error) {
	var parsed descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(descriptor, &parsed); err != nil {
		return nil, err
	}
	files := new(protoregistry.Files)
	file, err := protodesc.NewFile(&parsed, files)
	if err != nil {
		return nil, err
	}
	if err := files.RegisterFile(file); err != nil {
		return nil, err
	}
	service := file.Services().Get(0)
	desc := &grpc.ServiceDesc{ServiceName: string(service.FullName()), Metadata: file.Path()}
	for i := range service.Methods().Len() {
		m := service.Methods().Get(i)
		at := slices.IndexFunc(operations, func(o operation) bool { return o.name == string(m.Name()) })
		if at < 0 {
			return nil, fmt.Errorf("no operation %s", m.Name())
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: operations[at].name, Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := dynamicpb.NewMessage(m.Input())
			if err := decode(in); err != nil {
				return nil, err
			}
			out, err := s.call(ctx, operations[at], in, m.Output())
			if err != nil {
				return nil, s.statusOf(err, file.Messages().ByName("Error"))
			}
			return out, nil
		}})
	}
	g := grpc.NewServer(grpc.MaxRecvMsgSize(int(bodies.Body)))
	g.RegisterService(desc, nil)
	v1.RegisterServerReflectionServer(g, reflection.NewServerV1(reflection.ServerOptions{Services: g, DescriptorResolver: files}))
	return g, nil
}

// call does an operation with a message in the place of its JSON.
func (s *Server) call(ctx context.Context, o operation, in proto.Message, output protoreflect.MessageDescriptor) (proto.Message, error) {
	body, err := protojson.Marshal(in)
	if err != nil {
		return nil, usageError(http.StatusBadRequest, "%v", err)
	}
	answer, err := o.do(s, ctx, body)
	if err != nil {
		return nil, err
	}
	return messageOf(output, answer)
}

// messageOf is a JSON object as a message.
func messageOf(of protoreflect.MessageDescriptor, object []byte) (proto.Message, error) {
	m := dynamicpb.NewMessage(of)
	text, err := quoteTexts(of, object)
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, m)
	}
	return m, err
}

// quoteTexts makes texts of the values of an object that are texts in its message: what a server sent stays as it is.
func quoteTexts(of protoreflect.MessageDescriptor, object []byte) ([]byte, error) {
	out, sep := []byte{'{'}, ""
	var bad error
	walk := jsonrpc.Members(object, func(key string, v []byte) bool {
		f := of.Fields().ByJSONName(key)
		switch {
		case f == nil || f.IsMap() || v[0] == 'n':
		case f.Message() != nil && f.IsList():
			v, bad = quotedAll(f.Message(), v)
		case f.Message() != nil:
			v, bad = quoteTexts(f.Message(), v)
		case f.Kind() == protoreflect.StringKind && !f.IsList() && v[0] != '"':
			v = jsonrpc.Quote(string(v))
		}
		out = append(append(append(append(out, sep...), jsonrpc.Quote(key)...), ':'), v...)
		sep = ","
		return bad == nil
	})
	return append(out, '}'), errors.Join(bad, walk)
}

// quotedAll is quoted for a list of objects.
func quotedAll(of protoreflect.MessageDescriptor, list []byte) ([]byte, error) {
	var all [][]byte
	var bad error
	walk := jsonrpc.Elements(list, func(e []byte) bool {
		var one []byte
		one, bad = quoteTexts(of, e)
		all = append(all, one)
		return bad == nil
	})
	return slices.Concat([]byte{'['}, bytes.Join(all, []byte{','}), []byte{']'}), errors.Join(bad, walk)
}

// codeOf maps kinds of errors to codes of gRPC; others are Unavailable.
var codeOf = map[failure.Kind]codes.Code{
	failure.Usage:              codes.InvalidArgument,
	failure.ServerNotFound:     codes.NotFound,
	failure.ServerDisabled:     codes.FailedPrecondition,
	failure.ServerNotConnected: codes.FailedPrecondition,
	failure.OAuth:              codes.FailedPrecondition, // it is the router that needs a login, not the caller
	failure.Timeout:            codes.DeadlineExceeded,
	failure.Interrupted:        codes.Canceled,
}

// statusOf is an error of an operation as gRPC has it, with the JSON of the error as a detail.
func (s *Server) statusOf(err error, detail protoreflect.MessageDescriptor) error {
	f := s.refusal(err)
	code, known := codeOf[f.e.Kind]
	switch {
	case !known:
		code = codes.Unavailable
	case f.e.Kind == failure.Usage && f.status == http.StatusConflict:
		code = codes.FailedPrecondition
	}
	st := status.New(code, f.e.Error())
	if m, err := messageOf(detail, f.e.JSON()); err == nil {
		if with, err := st.WithDetails(protoadapt.MessageV1Of(m)); err == nil {
			st = with
		}
	}
	return st.Err()
}
