// Sends an event from standard input to a source with the signature `timestamped`.
//
// WEBHOOK_URL=https://triage.example.com/api/webhooks/siem WEBHOOK_SECRET=... go run send.go < event.json
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

const attempts = 5

var client = &http.Client{Timeout: 30 * time.Second}

func signature(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// post returns status, text and Retry-After of the answer; status 0 without an answer.
func post(url, secret string, body []byte) (int, string, string) {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error(), ""
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Webhook-Timestamp", timestamp)
	request.Header.Set("X-Webhook-Signature", signature(secret, timestamp, body))
	answer, err := client.Do(request)
	if err != nil {
		return 0, err.Error(), ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error(), ""
	}
	return answer.StatusCode, string(text), answer.Header.Get("Retry-After")
}

func send(url, secret string, body []byte) (int, string) {
	for attempt := 1; ; attempt++ {
		// Each attempt has its own signature, which is valid for five minutes.
		status, text, retryAfter := post(url, secret, body)
		mayHelp := status == 0 || status == 408 || status == 429 || status >= 500
		if !mayHelp || attempt == attempts {
			return status, text
		}
		wait := time.Second << attempt
		if seconds, err := strconv.Atoi(retryAfter); err == nil {
			wait = time.Duration(seconds) * time.Second
		}
		time.Sleep(wait)
	}
}

func main() {
	// Bytes, not text, because the signed bytes must be the sent bytes.
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status, text := send(os.Getenv("WEBHOOK_URL"), os.Getenv("WEBHOOK_SECRET"), body)
	fmt.Println(text)
	if status != 200 && status != 202 {
		os.Exit(1)
	}
}
