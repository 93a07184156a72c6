package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// class names what a binding throws for a code.
type class struct {
	name     string
	base     string   // "" = SandboxError
	builtins []string // what a user of Python would catch
	kinds    []KindClass
}

// classes has an entry for every code. A base says that whoever catches it wants
// the other too: the network failed, a file operation did.
var classes = map[fault.Code]class{
	fault.CodeAuthentication:     {name: "AuthenticationError"},
	fault.CodeInvalidAPIKey:      {name: "InvalidAPIKeyError", base: "AuthenticationError"},
	fault.CodeTokenExpired:       {name: "TokenExpiredError", base: "AuthenticationError"},
	fault.CodeInvalidCredentials: {name: "InvalidCredentialsError", base: "AuthenticationError"},
	fault.CodeTokenExchange:      {name: "TokenExchangeError", base: "AuthenticationError"},
	fault.CodeForbidden:          {name: "ForbiddenError", base: "AuthenticationError"},

	fault.CodeSandboxCreation:   {name: "SandboxCreationError"},
	fault.CodeTemplateNotFound:  {name: "TemplateNotFoundError", base: "SandboxCreationError"},
	fault.CodeQuotaExceeded:     {name: "QuotaExceededError", base: "SandboxCreationError"},
	fault.CodeRegionUnavailable: {name: "RegionUnavailableError", base: "SandboxCreationError"},
	fault.CodeTemplateParse:     {name: "TemplateParseError"},
	fault.CodeSandboxNotFound:   {name: "SandboxNotFoundError"},
	fault.CodeSandboxPaused:     {name: "SandboxPausedError"},

	fault.CodeExecution:      {name: "ExecutionError"},
	fault.CodeCommandTimeout: {name: "CommandTimeoutError", base: "ExecutionError", builtins: []string{"TimeoutError"}},
	fault.CodeCommandExit:    {name: "CommandExitError", base: "ExecutionError"},
	fault.CodeCodeExecution:  {name: "CodeExecutionError", base: "ExecutionError"},
	fault.CodeCapability:     {name: "CapabilityNotSupportedError"},
	fault.CodeConnectionLost: {name: "ConnectionLostError", base: "ExecutionError", builtins: []string{"ConnectionError"}},

	fault.CodeFileOperation:  {name: "FileOperationError", builtins: []string{"OSError"}},
	fault.CodeFileNotFound:   {name: "SandboxFileNotFoundError", base: "FileOperationError", builtins: []string{"FileNotFoundError"}},
	fault.CodeFilePermission: {name: "FilePermissionError", base: "FileOperationError", builtins: []string{"PermissionError"}},
	fault.CodePathKind: {name: "PathKindError", base: "FileOperationError", kinds: []KindClass{
		{fault.KindExists, "PathExistsError", "FileExistsError"},
		{fault.KindNotDirectory, "PathNotDirectoryError", "NotADirectoryError"},
		{fault.KindIsDirectory, "PathIsDirectoryError", "IsADirectoryError"},
	}},
	fault.CodeNoSpace: {name: "NoSpaceError", base: "FileOperationError"},

	fault.CodeNetwork:            {name: "NetworkError", builtins: []string{"ConnectionError"}},
	fault.CodeConnectFailed:      {name: "ConnectFailedError", base: "NetworkError"},
	fault.CodeRequestTimeout:     {name: "RequestTimeoutError", base: "NetworkError", builtins: []string{"TimeoutError"}},
	fault.CodeRateLimit:          {name: "RateLimitError"},
	fault.CodeServiceUnavailable: {name: "ServiceUnavailableError"},
	fault.CodeProtocol:           {name: "ProtocolError", base: "NetworkError"},
	fault.CodeCancelled:          {name: "CancelledOperationError"},

	fault.CodeSession:         {name: "SessionError"},
	fault.CodeSessionNotFound: {name: "SessionNotFoundError", base: "SessionError"},
	fault.CodeSessionExists:   {name: "SessionExistsError", base: "SessionError"},

	fault.CodeTemplateBuild:        {name: "TemplateBuildError"},
	fault.CodeTemplateBuildTimeout: {name: "TemplateBuildTimeoutError", base: "TemplateBuildError", builtins: []string{"TimeoutError"}},

	fault.CodeInvalidArgument: {name: "InvalidArgumentError", builtins: []string{"ValueError"}},
	fault.CodeInternal:        {name: "InternalError"},
}

// baseError is the class above all others.
const baseError = "SandboxError"

// errors adds the classes, in the order of the codes, and the fields they have.
func (in *inspector) errors(m *Model) error {
	t := reflect.TypeFor[fault.Error]()
	constants, err := in.source.constants(t.PkgPath(), "Code")
	if err != nil {
		return err
	}
	for _, c := range constants {
		known, ok := classes[fault.Code(c.Value)]
		if !ok {
			return fmt.Errorf("code %s has no class", c.Value)
		}
		base := known.base
		if base == "" {
			base = baseError
		}
		m.Errors = append(m.Errors, &ErrorClass{Code: c.Value, Name: known.name, Base: base, Doc: fieldDoc(c.Comment), Builtins: known.builtins, Kinds: known.kinds})
	}
	comments, err := in.source.fieldComments(t)
	if err != nil {
		return err
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		m.Fields = append(m.Fields, errorField(f, wording(comments[f.Name], constants)))
	}
	return nil
}

// wording makes of a comment in Go's words one in the words of every language:
// what is empty there is absent elsewhere, and a code has a class.
func wording(comment string, codes []Constant) string {
	comment = strings.NewReplacer("; may be nil", "", "; may be empty", "", "; 0 when there", "; absent when there", "; 0 = it", "; absent = it", "*core.CommandResult", "a CommandResult", "*core.Execution", "an Execution").Replace(comment)
	for _, c := range codes {
		comment = strings.ReplaceAll(comment, c.Name+":", classes[fault.Code(c.Value)].name+":")
	}
	return comment
}

func errorField(f reflect.StructField, comment string) *Field {
	one := &Field{Name: toSnake(f.Name), Type: &Type{Kind: Any}, Doc: fieldDoc(comment)}
	switch {
	case f.Type == reflect.TypeFor[time.Duration]():
		one.Type.Kind = Millis
		one.Name += "_ms"
	case f.Type.Kind() == reflect.String, f.Type == reflect.TypeFor[error]():
		one.Type.Kind = String
	case f.Type.Kind() == reflect.Bool:
		one.Type.Kind = Bool
	case f.Type.Kind() == reflect.Int, f.Type.Kind() == reflect.Uint32:
		one.Type.Kind = Int
	}
	one.Wire = one.Name
	one.Optional = one.Name != "code" && one.Name != "message" && one.Type.Kind != Bool
	return one
}
