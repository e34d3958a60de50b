package conformance

// Reasons that more than one scenario has.
const (
	fixtureResource = "reads a resource (test://…) that only the suite's fixture server has"
	noPrompts       = "the server has no prompts"
	noCompletions   = "the server has no prompts and no resource templates, so there is nothing to complete"
	noSubscriptions = "the one resource, workspace://current, cannot be subscribed to"
	noLogging       = "the server sends no log messages to clients; they go to its own log"
	noTasks         = "the server does not declare the tasks extension"
	noSkills        = "the server does not declare the skills extension"
)

func fixtureTool(name string) string {
	return "calls " + name + ", a tool that only the suite's fixture server has"
}

// notApplicable are the scenarios that have nothing to test here, and why.
var notApplicable = map[string]string{
	"logging-set-level":             noLogging,
	"completion-complete":           noCompletions,
	"resources-read-text":           fixtureResource,
	"resources-read-binary":         fixtureResource,
	"resources-templates-read":      fixtureResource,
	"resources-subscribe":           noSubscriptions,
	"resources-unsubscribe":         noSubscriptions,
	"prompts-list":                  noPrompts,
	"prompts-get-simple":            noPrompts,
	"prompts-get-with-args":         noPrompts,
	"prompts-get-embedded-resource": noPrompts,
	"prompts-get-with-image":        noPrompts,

	"tools-call-simple-text":       fixtureTool("test_simple_text"),
	"tools-call-image":             fixtureTool("test_image_content"),
	"tools-call-audio":             fixtureTool("test_audio_content"),
	"tools-call-embedded-resource": fixtureTool("test_embedded_resource"),
	"tools-call-mixed-content":     fixtureTool("test_multiple_content_types"),
	"tools-call-with-logging":      fixtureTool("test_tool_with_logging"),
	"tools-call-error":             fixtureTool("test_error_handling"),
	"tools-call-with-progress":     fixtureTool("test_tool_with_progress"),
	"tools-call-sampling":          fixtureTool("test_sampling"),
	"tools-call-elicitation":       fixtureTool("test_elicitation"),
	"elicitation-sep1034-defaults": fixtureTool("test_elicitation_sep1034_defaults"),
	"elicitation-sep1330-enums":    fixtureTool("test_elicitation_sep1330_enums"),
	"json-schema-2020-12":          fixtureTool("json_schema_2020_12_tool"),
	"server-sse-polling":           fixtureTool("test_reconnection"),
	"http-custom-header-server-validation": "needs a tool that takes arguments out of headers (x-mcp-header), " +
		"and no tool here does",

	"input-required-result-basic-elicitation":       fixtureTool("test_input_required_result_elicitation"),
	"input-required-result-basic-sampling":          fixtureTool("test_input_required_result_sampling"),
	"input-required-result-basic-list-roots":        fixtureTool("test_input_required_result_list_roots"),
	"input-required-result-request-state":           fixtureTool("test_input_required_result_request_state"),
	"input-required-result-multiple-input-requests": fixtureTool("test_input_required_result_multiple_inputs"),
	"input-required-result-multi-round":             fixtureTool("test_input_required_result_multi_round"),
	"input-required-result-missing-input-response":  fixtureTool("test_input_required_result_elicitation"),
	"input-required-result-non-tool-request":        noPrompts,
	"input-required-result-result-type":             fixtureTool("test_input_required_result_elicitation"),
	"input-required-result-tampered-state":          fixtureTool("test_input_required_result_tampered_state"),
	"input-required-result-capability-check":        fixtureTool("test_input_required_result_capabilities"),
	"input-required-result-ignore-extra-params":     fixtureTool("test_input_required_result_elicitation"),

	"tasks-lifecycle":              noTasks,
	"tasks-capability-negotiation": noTasks,
	"tasks-wire-fields":            noTasks,
	"tasks-request-state-removal":  noTasks,
	"tasks-mrtr-input":             noTasks,
	"tasks-request-headers":        noTasks,
	"tasks-dispatch-and-envelope":  noTasks,
	"tasks-status-notifications":   noTasks,
	"tasks-required-task-error":    noTasks,
	"tasks-mrtr-composition":       noTasks,
	"sep-2640-skills-directory":    noSkills,
	"sep-2640-skills-enumeration":  noSkills,
	"sep-2640-skills-manifest":     noSkills,
}

// exception names a check of a scenario of which the others pass.
type exception struct{ scenario, check string }

// exceptions are the checks that do not pass, and why that is right or no harm.
var exceptions = map[exception]string{
	{"caching", "sep-2549-prompts-list-caching-hints"}: noPrompts,

	{"sep-2164-resource-not-found", "sep-2164-data-uri"}: "only recommended: mcp-go's error has the URI in its message, not in its data",

	{"server-stateless", "sep-2575-server-rejects-undeclared-capability"}:              fixtureTool("test_missing_capability"),
	{"server-stateless", "sep-2575-missing-capability-http-400"}:                       fixtureTool("test_missing_capability"),
	{"server-stateless", "sep-2575-http-server-no-independent-requests-on-stream"}:     fixtureTool("test_streaming_elicitation"),
	{"server-stateless", "sep-2575-server-no-log-without-loglevel"}:                    fixtureTool("test_logging_tool"),
	{"server-stateless", "sep-2575-server-sends-prompts-list-changed-on-subscription"}: noPrompts,
	{"server-stateless", "sep-2575-server-sends-tools-list-changed-on-subscription"}: "the tools stay the same while the server runs, " +
		"and it does not declare listChanged",
}
