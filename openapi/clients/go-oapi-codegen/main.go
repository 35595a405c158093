// The scenario of openapi/clients/scenario.json, by the client that oapi-codegen makes.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"scenario/api"
)

var (
	ctx        = context.Background()
	serviceURL = os.Getenv("SERVICE_URL")
	run        = os.Getenv("RUN")
)

// client asks as the owner of the key; without one, as nobody.
func client(key string) *api.ClientWithResponses {
	return must(api.NewClientWithResponses(serviceURL, api.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			if key != "" {
				request.Header.Set("Authorization", "Bearer "+key)
			}
			return nil
		})))
}

func must[T any](value T, err error) T {
	if err != nil {
		fail(err.Error())
	}
	return value
}

func check(holds bool, format string, values ...any) {
	if !holds {
		fail(fmt.Sprintf(format, values...))
	}
}

func fail(reason string) {
	fmt.Fprintln(os.Stderr, reason)
	os.Exit(1)
}

func ok(step string) {
	fmt.Println("ok " + step)
}

func ptr[T any](value T) *T {
	return &value
}

func newKey(admin *api.ClientWithResponses, role api.Role, limits *api.ApiKeyLimits) *api.ClientWithResponses {
	answer := must(admin.CreateApiKeyWithResponse(ctx, nil, api.ApiKeyInput{
		Name: string(role) + "-" + run, Role: role, Limits: limits,
	}))
	check(answer.JSON201 != nil, "no key: %s", answer.Body)
	return client(answer.JSON201.Data.Key)
}

func main() {
	admin := client(os.Getenv("ADMIN_KEY"))
	analyst := newKey(admin, "analyst", &api.ApiKeyLimits{Triage: ptr[int32](1)})
	senior := newKey(admin, "senior", nil)
	ok("key")

	incident := incidents(analyst)
	actions(analyst, senior, incident)
	triage(analyst, incident)
	playbook(analyst, senior, incident)
	receipt(admin, analyst)

	invalid := must(analyst.CreateIncidentWithResponse(ctx, nil, api.IncidentInput{
		IncidentType: "phishing", Source: run, RawData: &map[string]any{"received_at": "yesterday"},
	}))
	check(invalid.JSON422 != nil, "not 422: %s", invalid.Body)
	refusal := invalid.JSON422.Error
	check(refusal.Code == "validation_error", "code %s", refusal.Code)
	check((*refusal.Details.Errors)[0].Field == "raw_data.received_at", "details %v", refusal.Details)
	ok("invalid")
}
