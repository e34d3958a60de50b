package permissions

import (
	"strconv"
	"strings"
)

// YAML returns the ruleset as a file that [Parse] accepts and that means the
// same. Text is quoted as Go does it, which YAML reads the same way.
func (r *Ruleset) YAML() string {
	var b strings.Builder
	b.WriteString("default: " + string(r.Default) + "\n")
	for _, op := range Operations() {
		rules, ok := r.Operations[op]
		if !ok || rules.Default == "" && len(rules.Rules) == 0 {
			continue
		}
		b.WriteString(string(op) + ":\n")
		if rules.Default != "" {
			b.WriteString("  default: " + string(rules.Default) + "\n")
		}
		if len(rules.Rules) == 0 {
			continue
		}
		b.WriteString("  rules:\n")
		for _, rule := range rules.Rules {
			b.WriteString("    - {pattern: " + strconv.Quote(rule.Pattern) + ", action: " + string(rule.Action))
			if rule.Description != "" {
				b.WriteString(", description: " + strconv.Quote(rule.Description))
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
}
