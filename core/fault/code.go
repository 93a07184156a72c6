package fault

// Code is one of the fixed error codes. The same code means the same thing on
// every path and in every language; see docs/errors.md.
type Code string

// The fixed list. The first digit groups: 1 credentials, 2 sandboxes,
// 3 commands, 4 files, 5 transport, 6 sessions, 7 templates, 8 arguments,
// 9 bugs of ours.
const (
	CodeAuthentication     Code = "E1000" // any credential problem not below
	CodeInvalidAPIKey      Code = "E1001" // no key, or refused (401)
	CodeTokenExpired       Code = "E1002" // minted token expired and could not be renewed; clock skew
	CodeInvalidCredentials Code = "E1003" // AK/SK missing, malformed or refused
	CodeTokenExchange      Code = "E1004" // minting a key from AK/SK failed
	CodeForbidden          Code = "E1005" // 403

	CodeSandboxCreation   Code = "E2000" // create failed, other
	CodeTemplateNotFound  Code = "E2001" // unknown template
	CodeQuotaExceeded     Code = "E2002" // quota, concurrency or plan limit
	CodeRegionUnavailable Code = "E2003" // region unknown or out of capacity
	CodeTemplateParse     Code = "E2004" // template.yaml invalid
	CodeSandboxNotFound   Code = "E2005" // no such sandbox, killed, or its lifetime ended
	CodeSandboxPaused     Code = "E2006" // the call needs a running sandbox and auto-resume is off

	CodeExecution      Code = "E3000" // other execution failure
	CodeCommandTimeout Code = "E3001" // the command clock fired
	CodeCommandExit    Code = "E3002" // non-zero exit when the caller asked for checking
	CodeCodeExecution  Code = "E3003" // interpreter could not run the code
	CodeCapability     Code = "E3004" // the provider cannot do it
	CodeConnectionLost Code = "E3005" // the stream ended without an end event: outcome unknown

	CodeFileOperation  Code = "E4000" // other file failure
	CodeFileNotFound   Code = "E4001" // path missing
	CodeFilePermission Code = "E4002" // not allowed
	CodePathKind       Code = "E4003" // wrong kind of path; see Error.Kind
	CodeNoSpace        Code = "E4004" // disk full (507)

	CodeNetwork            Code = "E5000" // other transport failure
	CodeConnectFailed      Code = "E5001" // could not connect
	CodeRequestTimeout     Code = "E5002" // request or idle clock fired
	CodeRateLimit          Code = "E5003" // 429
	CodeServiceUnavailable Code = "E5004" // 5xx
	CodeProtocol           Code = "E5005" // the peer broke the protocol
	CodeCancelled          Code = "E5006" // the caller cancelled, where nothing else reports it

	CodeSession         Code = "E6000" // named session, other
	CodeSessionNotFound Code = "E6001" // no such named session
	CodeSessionExists   Code = "E6002" // the named session exists

	CodeTemplateBuild        Code = "E7010" // image or template build failed
	CodeTemplateBuildTimeout Code = "E7011" // image or template build took too long

	CodeInvalidArgument Code = "E8000" // bad argument, found locally

	CodeInternal Code = "E9000" // our bug: a contained panic
)

// Kinds of a CodePathKind error.
const (
	KindExists       = "exists"
	KindNotDirectory = "not_a_directory"
	KindIsDirectory  = "is_a_directory"
)
