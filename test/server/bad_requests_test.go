package server

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxBody is what the server that is sent malformed requests takes.
const maxBody = 256 << 10

// request is what is written to a connection.
func (s *spoiler) request() []byte {
	switch n := s.IntN(100); {
	case n < 55:
		return s.post(s.message())
	case n < 65:
		return s.oddHead(s.post(s.message()))
	case n < 71:
		return s.chunked()
	case n < 75:
		return s.flood()
	case n < 78:
		return s.post(s.oversize())
	case n < 84:
		return s.pipeline()
	case n < 88:
		return s.garbage()
	case n < 93:
		return s.otherRoute()
	case n < 97:
		return s.wrongLength()
	default:
		return s.spoilBytes(s.post(s.message()))
	}
}

// What the headers of a stateless request repeat of its body.
var (
	methodIn = regexp.MustCompile(`"method":"([a-z/]+)"`)
	nameIn   = regexp.MustCompile(`"(?:name|uri)":"([a-z_:/]+)"`)
)

// post is a request for /mcp that is right but for its body, and for what
// headers of this protocol are left to chance.
func (s *spoiler) post(body []byte) []byte {
	lines := []string{"Host: 127.0.0.1", "Content-Length: " + strconv.Itoa(len(body)), "Connection: close"}
	kind, accept := "Content-Type: application/json", "Accept: application/json, text/event-stream"
	if s.IntN(20) == 0 { // not more often: what is refused for these gets no further
		kind = s.pick("Content-Type: application/json; charset=utf-16", "Content-Type: text/plain", "Content-Type: multipart/form-data; boundary=x", "Content-Type: ;;", "X: 1")
		accept = s.pick("Accept: application/json", "Accept: */*", "Accept: text/html;q=0", "Accept: ,;q=,", "X: 2")
	}
	lines = append(lines, kind, accept)
	lines = append(lines, s.authorization())
	switch s.IntN(10) {
	case 0:
		lines = append(lines, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: "+s.pick("tools/call", "tools/list", "ping", "", "TOOLS/CALL", "=?base64?dG9vbHM=?=", "=?base64?!!!?="), "Mcp-Name: "+s.pick("ls", "read_file", "", "=?base64?bHM=?=", "=?base64?", "\xff", strings.Repeat("n", 2000)))
	case 1:
		lines = append(lines, "Mcp-Session-Id: "+s.pick(s.session, "x", "", strings.Repeat("A", 32), "../x", strings.Repeat("s", 3000), s.session+"\t"), "Mcp-Protocol-Version: "+s.pick("2025-11-25", "2025-03-26", "2024-11-05", "1.0", "latest"))
	case 2:
	case 3, 4, 5, 6: // what the body says, so that it gets further
		lines = append(lines, "Mcp-Protocol-Version: 2026-07-28")
		for name, pattern := range map[string]*regexp.Regexp{"Mcp-Method: ": methodIn, "Mcp-Name: ": nameIn} {
			if found := pattern.FindSubmatch(body); found != nil {
				lines = append(lines, name+string(found[1]))
			}
		}
		slices.Sort(lines) // the map's order is another each time
	default:
		lines = append(lines, "Mcp-Session-Id: "+s.session, "Mcp-Protocol-Version: 2025-11-25")
		body = bytes.ReplaceAll(body, []byte("io.modelcontextprotocol/"), []byte("example.com/another/one/"))
	}
	if s.IntN(4) == 0 {
		lines = append(lines, s.pick("Mcp-Workspace-Ref: ", "Mcp-Workspace-Name: ", "Mcp-Workspace-Image: ", "Mcp-Workspace-Runtime: ", "Last-Event-ID: ", "X-Request-Id: ", "X-Forwarded-Prefix: ", "X-Forwarded-Host: ", "Mcp-Param-Path: ")+
			s.pick("x", "", "state:mcpws-0123456789ab", "state:", ":", "a:b:c", "../../x", strings.Repeat("x", 5000), "\xc3\x28", "1-0", "-1--1", "99999999999999999999-1", "1-99999999999999999999", "%00", "<script>"))
	}
	s.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return slices.Concat([]byte("POST /mcp HTTP/1.1\r\n"+strings.Join(lines, "\r\n")+"\r\n\r\n"), body)
}

func (s *spoiler) authorization() string {
	if s.IntN(12) > 0 {
		return "Authorization: Bearer " + s.token
	}
	return s.pick("Authorization: Bearer", "Authorization: Bearer "+strings.Repeat("x", 4000), "Authorization: Basic eDp4", "Authorization: "+s.token, "Authorization: Bearer "+s.token+"\r\nAuthorization: Bearer "+s.token, "X: 3", "Authorization: Bearer a.b.c", "Authorization: Bearer \xff\xff")
}

// oddHead changes what comes before the body.
func (s *spoiler) oddHead(request []byte) []byte {
	head, body, _ := bytes.Cut(request, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	switch s.IntN(8) {
	case 0:
		lines[0] = s.pick("POST /mcp HTTP/1.0", "POST /mcp HTTP/0.9", "POST /mcp HTTP/2.0", "POST /mcp HTTP/9.9", "POST /mcp", "POST  /mcp HTTP/1.1", "/mcp", "POST http://[::1/mcp HTTP/1.1", "POST /%zz HTTP/1.1", "POST mcp HTTP/1.1", "POST * HTTP/1.1",
			"CONNECT /mcp HTTP/1.1", "P\x00ST /mcp HTTP/1.1", "OPTIONS * HTTP/1.1", "TRACE /mcp HTTP/1.1", "BREW /mcp HTTP/1.1", strings.Repeat("A", 5000)+" /mcp HTTP/1.1", "POST /mcp?"+strings.Repeat("q=1&", 2000)+" HTTP/1.1", "POST /"+strings.Repeat("../", 500)+"mcp HTTP/1.1", "POST //mcp HTTP/1.1", "POST /mcp/ HTTP/1.1", "POST /mcp;x HTTP/1.1", "POST /mcp\\..\\x HTTP/1.1", "PUT /mcp HTTP/1.1", "HEAD /mcp HTTP/1.1", "PRI * HTTP/2.0")
	case 1:
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Host:") })
	case 2:
		lines = append(lines, s.pick("Host: other", "Host: evil.example", "Host:", "Host: 127.0.0.1:99999999", "Host: [::1", "Host: \xff", "Origin: https://evil.example", "Origin: null", "Origin: ://", "Origin: http://127.0.0.1\r\nOrigin: x"))
	case 3:
		i := 1 + s.IntN(len(lines)-1)
		lines[i] = s.pick(" "+lines[i], "\t"+lines[i], strings.Replace(lines[i], ":", " :", 1), strings.Replace(lines[i], ":", "", 1), lines[i]+"\x00", lines[i]+"\r", ":"+lines[i], lines[i]+"\n x: folded", strings.ToUpper(lines[i]))
	case 4:
		lines = append(lines, s.pick("Content-Length: -1", "Content-Length: 99999999999999999999", "Content-Length: 0x10", "Content-Length: 5, 5", "Content-Length: ", "Content-Length: 1e3", "Content-Length: +5"))
	case 5:
		lines = append(lines, s.pick("Expect: 100-continue", "Expect: 200-maybe", "Upgrade: websocket\r\nConnection: Upgrade", "Upgrade: h2c", "Trailer: Authorization", "Content-Encoding: gzip", "Content-Encoding: br, br, br", "Range: bytes=0-0,0-0", "If-Match: *", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked, identity", "TE: trailers", "Keep-Alive: timeout=-1", "Max-Forwards: -1"))
	case 6:
		return slices.Concat([]byte(strings.Join(lines, "\n")+"\n\n"), body)
	default:
		return slices.Concat([]byte(strings.Join(lines, "\r\n")+s.pick("\r\n", "\r\n\r", "", "\n\r\n\r")), body)
	}
	return slices.Concat([]byte(strings.Join(lines, "\r\n")+"\r\n\r\n"), body)
}

// head is a request's beginning with the headers that let it in.
func (s *spoiler) head(first string, more ...string) string {
	lines := append([]string{first, "Host: localhost", "Authorization: Bearer " + s.token, "Content-Type: application/json", "Accept: application/json, text/event-stream"}, more...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

func (s *spoiler) chunked() []byte {
	body := s.message()
	head := s.head("POST /mcp HTTP/1.1", "Connection: close", "Transfer-Encoding: chunked")
	if s.IntN(5) == 0 {
		head = s.head("POST /mcp HTTP/1.1", "Connection: close", "Content-Length: 5", "Transfer-Encoding: chunked")
	}
	var b bytes.Buffer
	b.WriteString(head)
	for len(body) > 0 {
		n := min(len(body), 1+s.IntN(200))
		size := fmt.Sprintf("%x", n)
		if s.IntN(20) == 0 {
			size = s.pick("zz", "-5", "ffffffffffffffff", "0", " 5", "5;ext="+strings.Repeat("e", 5000), "", "5\x00", "1"+strings.Repeat("0", 30))
		}
		fmt.Fprintf(&b, "%s\r\n%s%s", size, body[:n], s.pick("\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "", "xx"))
		body = body[n:]
	}
	b.WriteString(s.pick("0\r\n\r\n", "0\r\n\r\n", "", "0\r\nX-Trailer: "+strings.Repeat("t", 70_000)+"\r\n\r\n", "0\r\nContent-Length: 5\r\n\r\n", "0\r\n"))
	return b.Bytes()
}

// flood is of headers.
func (s *spoiler) flood() []byte {
	var b strings.Builder
	n := []int{50, 500, 3000}[s.IntN(3)]
	for i := range n {
		fmt.Fprintf(&b, "X-%d: %s\r\n", i%[]int{1, 7, 10_000}[s.IntN(3)], strings.Repeat("v", s.IntN(60)))
	}
	if s.IntN(3) == 0 {
		b.WriteString("X-Long: " + strings.Repeat("l", 100_000) + "\r\n")
	}
	return []byte("POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n" + b.String() + "\r\n{}")
}

// oversize is more than the server takes, or almost.
func (s *spoiler) oversize() []byte {
	n := maxBody + []int{-200, -100, 1, 1000, 100_000}[s.IntN(5)]
	fill := s.pick("x", " ", "[", "{}", "\\u0041", "\xff")
	content := strings.Repeat(fill, n/len(fill))
	return []byte(s.pick(content, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"`+content+`"}}}`))
}

// pipeline is several requests in one write.
func (s *spoiler) pipeline() []byte {
	var b bytes.Buffer
	for range 2 + s.IntN(4) {
		part := s.post(s.message())
		if s.IntN(3) == 0 {
			part = s.oddHead(part)
		}
		b.Write(bytes.Replace(part, []byte("Connection: close\r\n"), nil, 1))
	}
	b.Write(s.post(s.corpus[0]))
	return b.Bytes()
}

func (s *spoiler) garbage() []byte {
	return []byte(s.pick(string(s.bytes(1+s.IntN(3000))), "", "\r\n", strings.Repeat("\r\n", 500), "\x00", strings.Repeat("A", 100_000), "GET", "POST /mcp HTTP/1.1\r\n", "POST /mcp HTTP/1.1\r\nHost: x\r\nA: "+string(s.bytes(200))+"\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+string(s.bytes(100)), "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"+string(s.bytes(300)), "SSH-2.0-OpenSSH_9.9\r\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", "Content-Length: 40\r\n\r\n{}"))
}

func (s *spoiler) otherRoute() []byte {
	path := s.pick("/", "/sse", "/message", "/message?sessionId="+s.session, "/message?sessionId=%00", "/message?sessionId=a&sessionId=b", "/message?", "/mcp", "/healthz", "/readyz", "/metrics", "/.well-known/oauth-protected-resource", "/.well-known/../mcp", "/.well-known/oauth-protected-resource/%2e%2e/%2e%2e", "/favicon.ico", "/debug/pprof/", "/mcp/../../etc/passwd", "/\xff", "/%ff%fe", "/mcp%00", "/MCP")
	method := s.pick("GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH")
	body := s.message()
	if method == "GET" {
		body = nil // a stream would begin, whose end the server sees only when it has read what comes before
	}
	more := []string{"Connection: close", "Content-Length: " + strconv.Itoa(len(body)), "Mcp-Session-Id: " + s.pick("x", strings.Repeat("A", 32)), "Last-Event-ID: " + s.pick("1-0", "x", "-", "0-0", strings.Repeat("9", 40)+"-1")}
	return append([]byte(s.head(method+" "+path+" HTTP/1.1", more...)), body...)
}

// wrongLength says that the body is longer or shorter than it is.
func (s *spoiler) wrongLength() []byte {
	body := s.message()
	n := max(0, len(body)+[]int{-10, -1, 1, 10, 1000, maxBody}[s.IntN(6)])
	return append([]byte(s.head("POST /mcp HTTP/1.1", "Connection: close", "Content-Length: "+strconv.Itoa(n))), body...)
}
