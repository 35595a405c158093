// The scenario of openapi/clients/scenario.json, by the client that openapi-generator makes.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	openapi "github.com/GIT_USER_ID/GIT_REPO_ID"
)

var (
	ctx        = context.Background()
	serviceURL = os.Getenv("SERVICE_URL")
	run        = os.Getenv("RUN")
)

// client asks as the owner of the key; without one, as nobody.
func client(key string) *openapi.APIClient {
	settings := openapi.NewConfiguration()
	settings.Servers = openapi.ServerConfigurations{{URL: serviceURL}}
	if key != "" {
		settings.AddDefaultHeader("Authorization", "Bearer "+key)
	}
	return openapi.NewAPIClient(settings)
}

func must[T any](value T, _ *http.Response, err error) T {
	if err != nil {
		fail(err.Error())
	}
	return value
}

func refused[T any](_ T, response *http.Response, err error) func(int, string) openapi.ErrorObject {
	return func(status int, code string) openapi.ErrorObject {
		var failure *openapi.GenericOpenAPIError
		check(errors.As(err, &failure), "not refused: %v", err)
		check(response.StatusCode == status, "not %d: %s", status, response.Status)
		envelope, isEnvelope := failure.Model().(openapi.ErrorEnvelope)
		check(isEnvelope, "no error: %s", failure.Body())
		check(envelope.Error.Code == code, "code %s", envelope.Error.Code)
		return envelope.Error
	}
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

func newKey(admin *openapi.APIClient, role openapi.Role, limits *openapi.ApiKeyLimits) *openapi.APIClient {
	body := openapi.NewApiKeyInput(string(role)+"-"+run, role)
	body.Limits = limits
	return client(must(admin.AccessAPI.CreateApiKey(ctx).ApiKeyInput(*body).Execute()).Data.Key)
}

func main() {
	admin := client(os.Getenv("ADMIN_KEY"))
	analyst := newKey(admin, openapi.ROLE_ANALYST, &openapi.ApiKeyLimits{Triage: openapi.PtrInt32(1)})
	senior := newKey(admin, openapi.ROLE_SENIOR, nil)
	ok("key")

	incident := incidents(analyst)
	actions(analyst, senior, incident)
	triage(analyst, incident)
	playbook(analyst, senior, incident)
	receipt(admin, analyst)

	report := openapi.NewIncidentInput("phishing", run)
	report.RawData = map[string]any{"received_at": "yesterday"}
	refusal := refused(analyst.IncidentsAPI.CreateIncident(ctx).IncidentInput(*report).Execute())(422, "validation_error")
	check(refusal.Details.Errors[0].Field == "raw_data.received_at", "details %v", refusal.Details)
	ok("invalid")
}
