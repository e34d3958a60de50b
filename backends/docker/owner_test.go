package docker

import (
	"errors"
	"strings"
	"testing"
)

const (
	passwd = "root:x:0:0:root:/root:/bin/sh\nalice:x:1234:1235::/home/alice:/bin/sh\nbroken:x:y:z::/:/\nshort:x:7\n7000:x:1:2::/:/\n"
	group  = "root:x:0:\nalice:x:1235:\nstaff:x:50:alice\nbroken:x:y:\n"
)

func TestUsersAreFoundAsEnginesFindThem(t *testing.T) {
	for user, want := range map[string]ids{
		"":              {0, 0},
		"0":             {0, 0},
		"root":          {0, 0},
		"alice":         {1234, 1235},
		"alice:staff":   {1234, 50},
		"alice:77":      {1234, 77},
		"alice:":        {1234, 1235},
		"1234":          {1234, 1235},
		"1234:0":        {1234, 0},
		"4321":          {4321, 0},
		"4321:staff":    {4321, 50},
		"4321:4321":     {4321, 4321},
		"7000":          {7000, 0}, // a number is a uid, also where it is somebody's name
		"nobody":        {-1, 0},
		"alice:nobody":  {-1, 0},
		"broken":        {-1, 0},
		"short":         {-1, 0},
		"alice:broken":  {-1, 0},
		"-1":            {-1, 0},
		"99999999999":   {-1, 0},
		"1:99999999999": {-1, 0},
	} {
		got, err := resolveUser(user, func(file string) (string, error) {
			if file == "/etc/passwd" {
				return passwd, nil
			}
			return group, nil
		})
		if want.uid < 0 {
			if err == nil {
				t.Errorf("%q is %+v, want an error", user, got)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", user, got, err, want)
		}
	}
}

func TestUsersInAnImageWithoutFiles(t *testing.T) {
	missing := func(file string) (string, error) { return "", errors.New("the container has no " + file) }
	for user, want := range map[string]ids{"": {0, 0}, "12:13": {12, 13}, "12": {12, 0}} {
		if got, err := resolveUser(user, missing); err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", user, got, err, want)
		}
	}
	for user, file := range map[string]string{"alice": "/etc/passwd", "12:staff": "/etc/group"} {
		if _, err := resolveUser(user, missing); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", user, err)
		}
	}
}
