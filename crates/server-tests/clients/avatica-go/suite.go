package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

const driver = "github.com/apache/calcite-avatica-go/v5"

// expectedFailures has the reason of each test that must fail: lines `NAME  reason`, and comments.
func expectedFailures() map[string]string {
	reasons := map[string]string{}
	for line := range strings.Lines(string(value(os.ReadFile("expected_failures.txt")))) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			name, reason, _ := strings.Cut(line, " ")
			reasons[name] = strings.TrimSpace(reason)
		}
	}
	return reasons
}

// outcomes has a word for each test: PASS, FAIL or SKIP, and a line of what a failed one said.
type outcomes struct {
	words   map[string]string
	details map[string]string
}

// runSuite runs the driver's own tests, unchanged. A panic ends their process: the test that ran has failed, and the others run in another process.
func runSuite(server string) outcomes {
	folder := value(os.MkdirTemp("", "avatica-go-"))
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "suite")
	if output, err := exec.Command("go", "test", "-c", "-o", binary, driver).CombinedOutput(); err != nil {
		panic(fmt.Errorf("%w: %s", err, output))
	}
	// The tests read files beside their sources.
	sources := strings.TrimSpace(string(value(exec.Command("go", "list", "-f", "{{.Dir}}", driver).Output())))
	found := outcomes{map[string]string{}, map[string]string{}}
	for {
		var done []string
		for name := range found.words {
			done = append(done, name)
		}
		test := exec.Command(binary, "-test.v", "-test.timeout=120s", "-test.skip=^("+strings.Join(done, "|")+")$")
		test.Dir = sources
		test.Env = append(os.Environ(), "AVATICA_FLAVOR=PHOENIX", "PHOENIX_HOST="+server)
		output, _ := test.CombinedOutput()
		if running := found.read(output); running != "" {
			found.words[running] = "FAIL"
		}
		if hasPanicked := bytes.Contains(output, []byte("\npanic: ")); !hasPanicked || len(found.words) == len(done) {
			return found
		}
	}
}

// read takes the lines of one process. It gives the test that was running at the end, if one was.
func (found *outcomes) read(output []byte) (running string) {
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, len(output)+1)
	for lines.Scan() {
		line := lines.Text()
		if name, isStart := strings.CutPrefix(line, "=== RUN   "); isStart {
			running = name
		} else if rest, isEnd := strings.CutPrefix(line, "--- "); isEnd {
			word, name, _ := strings.Cut(rest, ": ")
			name, _, _ = strings.Cut(name, " ")
			found.words[name], running = word, ""
		} else if running != "" && found.details[running] == "" && !strings.HasPrefix(line, "=== ") {
			found.details[running] = strings.TrimSpace(line)
		}
	}
	return running
}

// suite prints a line for each of the driver's tests, and is whether all ended as they must.
func suite(server string) (isWell bool) {
	found, expected := runSuite(server), expectedFailures()
	isWell = true
	counts := map[string]int{}
	var names []string
	for name := range found.words {
		names = append(names, name)
	}
	sort.Strings(names)
	bad := func(name, why string) {
		isWell = false
		fmt.Printf("not ok suite %s: %s\n", name, why)
	}
	for _, name := range names {
		word, reason := found.words[name], expected[name]
		counts[word]++
		switch {
		case word == "PASS" && reason == "":
			fmt.Println("ok suite", name)
		case word == "PASS":
			bad(name, "it passes, and expected_failures.txt says that it fails")
		case word == "FAIL" && reason == "":
			bad(name, found.details[name])
		case word == "FAIL":
			fmt.Printf("ok suite %s fails: %s\n", name, reason)
		}
	}
	for name := range expected {
		if word := found.words[name]; word != "PASS" && word != "FAIL" {
			bad(name, "it did not run, and expected_failures.txt has it")
		}
	}
	if counts["PASS"] == 0 {
		bad("all", "no test ran")
	}
	fmt.Printf("suite: %d passed, %d failed, %d skipped by itself\n", counts["PASS"], counts["FAIL"], counts["SKIP"])
	return isWell
}
