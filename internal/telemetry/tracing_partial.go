package telemetry

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// rejectedError says that the collector took a batch without some of its spans.
type rejectedError struct{ spans int64 }

func (e *rejectedError) Error() string { return fmt.Sprintf("it refused %d spans of a batch", e.spans) }

// partial reads an ExportTraceServiceResponse: field 1 is the partial success,
// whose field 1 is the number of spans refused. An answer that is not one, as
// from a proxy, counts as success.
func partial(contentType string, answer []byte) error {
	if contentType != "application/x-protobuf" {
		return nil
	}
	success, ok := field(answer, protowire.BytesType)
	if !ok {
		return nil
	}
	inner, n := protowire.ConsumeBytes(success)
	if n < 0 {
		return nil
	}
	number, ok := field(inner, protowire.VarintType)
	if !ok {
		return nil
	}
	refused, n := protowire.ConsumeVarint(number)
	if n < 0 || int64(refused) <= 0 {
		return nil
	}
	return &rejectedError{int64(refused)}
}

// field returns what follows the tag of field 1 of the type in a message.
func field(message []byte, kind protowire.Type) ([]byte, bool) {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, false
		}
		message = message[n:]
		if num == 1 && typ == kind {
			return message, true
		}
		n = protowire.ConsumeFieldValue(num, typ, message)
		if n < 0 {
			return nil, false
		}
		message = message[n:]
	}
	return nil, false
}
