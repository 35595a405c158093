// Receives webhooks of the incident triage service and verifies their signatures.
//
// WEBHOOK_SECRET=whsec_... PORT=8080 go run receive.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const tolerance = 5 * time.Minute
const largestBody = 1024 * 1024

type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

var key []byte

// Ids of handled events. A service with several processes keeps them in its database for two days.
var seen sync.Map

func isGenuine(headers http.Header, body []byte) bool {
	timestamp := headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(headers.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// After a change of the secret there are two signatures for 24 hours. One match is enough.
	for _, part := range strings.Split(headers.Get("webhook-signature"), " ") {
		encoded, isV1 := strings.CutPrefix(part, "v1,")
		given, err := base64.StdEncoding.DecodeString(encoded)
		if isV1 && err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}

func handle(received event) {
	fmt.Println(received.Type, received.ID)
}

func receive(response http.ResponseWriter, request *http.Request) {
	// The signature covers the received bytes: JSON that is serialized again may differ.
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, largestBody))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if !isGenuine(request.Header, body) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	var received event
	if json.Unmarshal(body, &received) != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	if _, wasSeen := seen.LoadOrStore(received.ID, true); !wasSeen {
		handle(received)
	}
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	encoded := strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_")
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic("WEBHOOK_SECRET must be whsec_ and base64")
	}
	key = decoded
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	fmt.Printf("Listening on http://%s/\n", listener.Addr())
	panic(http.Serve(listener, http.HandlerFunc(receive)))
}
