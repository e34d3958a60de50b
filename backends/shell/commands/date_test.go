package commands

import (
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/zones"
)

func TestReadDate(t *testing.T) {
	now := time.Date(2024, 1, 31, 12, 30, 45, 5, time.UTC) // a Wednesday
	for text, want := range map[string]string{
		"":                          "2024-01-31 00:00:00",
		"now":                       "2024-01-31 12:30:45",
		"yesterday":                 "2024-01-30 12:30:45",
		"2 days ago":                "2024-01-29 12:30:45",
		"+ 1 month":                 "2024-03-02 12:30:45",
		"next month":                "2024-03-02 12:30:45",
		"friday":                    "2024-02-02 00:00:00",
		"next friday":               "2024-02-02 00:00:00",
		"last friday":               "2024-01-26 00:00:00",
		"wednesday":                 "2024-01-31 00:00:00",
		"next wednesday":            "2024-02-07 00:00:00",
		"friday next week":          "2024-02-09 00:00:00",
		"2024-02-29":                "2024-02-29 00:00:00",
		"2024-02-29 +1 year":        "2025-03-01 00:00:00",
		"2024-01-02T03:04:05Z":      "2024-01-02 03:04:05",
		"2024-01-02T03:04:05+02:00": "2024-01-02 01:04:05",
		"2024-01-02 03:04 EST":      "2024-01-02 08:04:00",
		"20240102":                  "2024-01-02 00:00:00",
		"1/2/24":                    "2024-01-02 00:00:00",
		"Jan 2, 2024 3pm":           "2024-01-02 15:00:00",
		"12am":                      "2024-01-31 00:00:00",
		"@86400":                    "1970-01-02 00:00:00",
		"12:00 +2 hours":            "2024-01-31 11:00:00", // a zone, and one hour
		"12:00 2 hours":             "2024-01-31 14:00:00",
		"foo":                       "", "2024-02-30": "", "24:00": "", "@": "", "@x": "", "1 2 3 4 5": "", "99999999999999999999": "",
		"9999999999999 years": "", "(": "", "2024-01-01 2024-01-02": "", "TZ=\"UTC": "",
	} {
		got, err := ReadDate(text, now)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q is %v, should be refused", text, got)
		case want != "" && (err != nil || got.Format("2006-01-02 15:04:05") != want):
			t.Errorf("%q is %v, %v; should be %s", text, got, err, want)
		}
	}
}

func TestFormatTime(t *testing.T) {
	kolkata, ok := zones.Load("Asia/Kolkata")
	if !ok {
		t.Fatal("the zone is missing")
	}
	at := time.Date(2024, 3, 5, 7, 8, 9, 12345000, kolkata)
	for format, want := range map[string]string{
		"%F %T.%N %z": "2024-03-05 07:08:09.012345000 +0530", "%:z %::z %:::z %Z": "+05:30 +05:30:00 +05:30 IST",
		"%-d|%_d|%03d|%e|%k": "5| 5|005| 5| 7", "%^a %#Z %#p %^B": "TUE ist am MARCH", "%3N %-N": "012 012345000", "%s": "1709602689",
		"%G-W%V-%u %j %U %W": "2024-W10-2 065 09 10", "%q%C%y%P%p": "12024amAM", "%%|%n|%t|%": "%|\n|\t|%", "%Q %": "%Q %", "%10Y|%_10Y|%-m": "0000002024|      2024|3",
		"%c|%x|%X|%r|%D|%R": "Tue Mar  5 07:08:09 2024|03/05/24|07:08:09|07:08:09 AM|03/05/24|07:08",
	} {
		if got := FormatTime(format, at); got != want {
			t.Errorf("%q is %q, should be %q", format, got, want)
		}
	}
}

func TestDate(t *testing.T) {
	runCases(t, []commandCase{
		{name: "default format", argv: "date -d @0", out: "Thu Jan  1 00:00:00 UTC 1970\n"},
		{name: "iso", argv: "date -d @0 -Iseconds", out: "1970-01-01T00:00:00+00:00\n"},
		{name: "rfc", argv: "date -d @0 -R", out: "Thu, 01 Jan 1970 00:00:00 +0000\n"},
		{name: "rfc 3339", argv: "date -d @0 --rfc-3339=ns", out: "1970-01-01 00:00:00.000000000+00:00\n"},
		{name: "lines of a file", stdin: "@0\nfoo\n", argv: "date -f - +%F", out: "1970-01-01\n", err: "date: invalid date 'foo'", code: 1},
		{name: "invalid", argv: "date -d foo", err: "date: invalid date 'foo'", code: 1},
		{name: "there is no clock to set", argv: "date -s now", err: "cannot set date: Operation not permitted", code: 1},
		{name: "two formats", argv: "date -R +%F", err: "multiple output formats specified", code: 1},
		{name: "no plus", argv: "date -d @0 %F", err: "lacks a leading '+'", code: 1},
	})
}

func FuzzReadDate(f *testing.F) {
	for _, s := range []string{"next friday 10:00", "2024-01-31 + 1 month", "@1.5", "TZ=\"EST5\" 10pm", "1/2/3 (x) z"} {
		f.Add(s)
	}
	now := time.Date(2024, 1, 31, 12, 30, 45, 5, time.UTC)
	f.Fuzz(func(_ *testing.T, text string) {
		if at, err := ReadDate(text, now); err == nil {
			FormatTime("%c %s %G %V %:::z", at)
		}
	})
}
