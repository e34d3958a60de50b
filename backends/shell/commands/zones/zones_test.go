package zones

import (
	"testing"
	"time"
)

func TestLoadReadsNamesAndRules(t *testing.T) {
	summer := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	winter := time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)
	const layout = "15:04 MST -0700"
	for _, c := range []struct{ name, summer, winter string }{
		{"", "12:00 UTC +0000", "12:00 UTC +0000"},
		{"UTC", "12:00 UTC +0000", "12:00 UTC +0000"},
		{"Europe/Berlin", "14:00 CEST +0200", "13:00 CET +0100"},
		{":America/New_York", "08:00 EDT -0400", "07:00 EST -0500"},
		{"Asia/Kolkata", "17:30 IST +0530", "17:30 IST +0530"},
		{"EST5", "07:00 EST -0500", "07:00 EST -0500"},
		{"EST5EDT", "08:00 EDT -0400", "07:00 EST -0500"},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "14:00 CEST +0200", "13:00 CET +0100"},
		{"XYZ-5:30", "17:30 XYZ +0530", "17:30 XYZ +0530"},
		{"<+03>-3", "15:00 +03 +0300", "15:00 +03 +0300"},
	} {
		loc, ok := Load(c.name)
		if got := summer.In(loc).Format(layout); !ok || got != c.summer {
			t.Errorf("%q in summer is %q, should be %q", c.name, got, c.summer)
		}
		if got := winter.In(loc).Format(layout); got != c.winter {
			t.Errorf("%q in winter is %q, should be %q", c.name, got, c.winter)
		}
	}
}

func TestLoadRefusesWhatIsNoZone(t *testing.T) {
	for _, name := range []string{"Nowhere/City", "../etc/passwd", "/etc/localtime", "A1", "ABC", "ABC99", "<ab", "-5"} {
		if loc, ok := Load(name); ok || loc != time.UTC {
			t.Errorf("%q is %v, %v; should be UTC, false", name, loc, ok)
		}
	}
}
