package core

import "github.com/agent-sandbox/agent-sandbox/core/fault"

// Error is the one error type of the SDK; find it with errors.As and decide by
// its Code.
type Error = fault.Error

// Code is one of the fixed error codes.
type Code = fault.Code

// The codes, see fault.
const (
	CodeAuthentication       = fault.CodeAuthentication
	CodeInvalidAPIKey        = fault.CodeInvalidAPIKey
	CodeTokenExpired         = fault.CodeTokenExpired
	CodeInvalidCredentials   = fault.CodeInvalidCredentials
	CodeTokenExchange        = fault.CodeTokenExchange
	CodeForbidden            = fault.CodeForbidden
	CodeSandboxCreation      = fault.CodeSandboxCreation
	CodeTemplateNotFound     = fault.CodeTemplateNotFound
	CodeQuotaExceeded        = fault.CodeQuotaExceeded
	CodeRegionUnavailable    = fault.CodeRegionUnavailable
	CodeTemplateParse        = fault.CodeTemplateParse
	CodeSandboxNotFound      = fault.CodeSandboxNotFound
	CodeSandboxPaused        = fault.CodeSandboxPaused
	CodeExecution            = fault.CodeExecution
	CodeCommandTimeout       = fault.CodeCommandTimeout
	CodeCommandExit          = fault.CodeCommandExit
	CodeCodeExecution        = fault.CodeCodeExecution
	CodeCapability           = fault.CodeCapability
	CodeConnectionLost       = fault.CodeConnectionLost
	CodeFileOperation        = fault.CodeFileOperation
	CodeFileNotFound         = fault.CodeFileNotFound
	CodeFilePermission       = fault.CodeFilePermission
	CodePathKind             = fault.CodePathKind
	CodeNoSpace              = fault.CodeNoSpace
	CodeNetwork              = fault.CodeNetwork
	CodeConnectFailed        = fault.CodeConnectFailed
	CodeRequestTimeout       = fault.CodeRequestTimeout
	CodeRateLimit            = fault.CodeRateLimit
	CodeServiceUnavailable   = fault.CodeServiceUnavailable
	CodeProtocol             = fault.CodeProtocol
	CodeCancelled            = fault.CodeCancelled
	CodeSession              = fault.CodeSession
	CodeSessionNotFound      = fault.CodeSessionNotFound
	CodeSessionExists        = fault.CodeSessionExists
	CodeTemplateBuild        = fault.CodeTemplateBuild
	CodeTemplateBuildTimeout = fault.CodeTemplateBuildTimeout
	CodeInvalidArgument      = fault.CodeInvalidArgument
	CodeInternal             = fault.CodeInternal
)

// CodeOf is the code of err, "" when err is not ours.
func CodeOf(err error) Code { return fault.CodeOf(err) }
