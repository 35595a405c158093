// The scenario of openapi/clients/scenario.json, by the client that ogen makes.
package main

import (
	"context"
	"fmt"
	"os"
	"scenario/api"

	"github.com/google/uuid"
	"github.com/ogen-go/ogen/ogenerrors"
)

var (
	ctx        = context.Background()
	serviceURL = os.Getenv("SERVICE_URL")
	run        = os.Getenv("RUN")
)

// key is that of the caller; without one it asks as nobody.
type key string

func (key key) Bearer(context.Context, api.OperationName) (api.Bearer, error) {
	return api.Bearer{Token: string(key)}, nil
}

func (key) Session(context.Context, api.OperationName) (api.Session, error) {
	return api.Session{}, ogenerrors.ErrSkipClientSecurity
}

func (key) MetricsToken(context.Context, api.OperationName) (api.MetricsToken, error) {
	return api.MetricsToken{}, ogenerrors.ErrSkipClientSecurity
}

func client(of key) *api.Client {
	made, err := api.NewClient(serviceURL, of)
	check(err == nil, "no client: %v", err)
	return made
}

// as is the answer, which has a type for each status.
func as[T any](answer any, err error) T {
	check(err == nil, "no answer: %v", err)
	expected, isExpected := answer.(T)
	check(isExpected, "another answer: %T %+v", answer, answer)
	return expected
}

func check(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, format+"\n", values...)
		os.Exit(1)
	}
}

func ok(step string) {
	fmt.Println("ok " + step)
}

func newKey(admin *api.Client, role api.Role, limits api.OptApiKeyLimits) *api.Client {
	body := api.ApiKeyInput{Name: string(role) + "-" + run, Role: role, Limits: limits}
	made := as[*api.CreatedApiKeyEnvelopeHeaders](admin.CreateApiKey(ctx, &body, api.CreateApiKeyParams{}))
	return client(key(made.Response.Data.Key))
}

func main() {
	admin := client(key(os.Getenv("ADMIN_KEY")))
	limits := api.NewOptApiKeyLimits(api.ApiKeyLimits{Triage: api.NewOptInt32(1)})
	analyst := newKey(admin, api.RoleAnalyst, limits)
	senior := newKey(admin, api.RoleSenior, api.OptApiKeyLimits{})
	ok("key")

	incident := incidents(analyst)
	reference := api.IncidentReference(uuid.UUID(incident.ID).String())
	actions(analyst, senior, reference)
	triage(analyst, reference)
	playbook(analyst, senior, reference)
	receipt(admin, analyst)

	report := api.IncidentInput{
		IncidentType: "phishing", Source: run,
		RawData: api.NewOptIncidentInputRawData(api.IncidentInputRawData{"received_at": []byte(`"yesterday"`)}),
	}
	refusal := as[*api.ValidationErrorOrIdempotencyKeyReusedAnswerHeaders](analyst.CreateIncident(ctx, &report, api.CreateIncidentParams{}))
	check(refusal.Response.Error.Code == "validation_error", "code %s", refusal.Response.Error.Code)
	details := refusal.Response.Error.Details.Value
	check(details.Errors[0].Field == "raw_data.received_at", "details %v", details)
	ok("invalid")
}
