// Package auth finds out who an HTTP request comes from. It knows two kinds of
// credentials, both sent as "Authorization: Bearer": tokens of the
// configuration, of which the server only has the SHA-256 hashes, and access
// tokens of an OAuth 2.0 authorization server, which are JWTs.
//
// For the second kind the server is an OAuth resource server as the MCP
// authorization specification has it (revisions 2025-11-25 and 2026-07-28):
// RFC 6750 says how it refuses, RFC 9728 how clients find the authorization
// server, RFC 8707 and RFC 9068 what a token for this server looks like.
//
// The package decides who somebody is, not what they may do. No token, and no
// claim of a token that was refused, is in any of its errors, challenges or
// log records.
package auth
