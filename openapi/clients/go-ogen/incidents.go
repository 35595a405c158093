package main

import (
	"scenario/api"

	"github.com/google/uuid"
)

func incidents(analyst *api.Client) api.Incident {
	report := api.IncidentInput{
		IncidentType: "phishing", Source: run, Severity: api.NewOptSeverity(api.SeverityHigh),
		RawData: api.NewOptIncidentInputRawData(api.IncidentInputRawData{
			"message_id": []byte(`"<1@mail.example.net>"`), "sender": []byte(`"ceo@example.net"`),
		}),
	}
	create := func(params api.CreateIncidentParams) api.IncidentId {
		return as[*api.CreatedIncidentEnvelopeHeaders](analyst.CreateIncident(ctx, &report, params)).Response.Data.ID
	}
	once := api.CreateIncidentParams{IdempotencyKey: api.NewOptIdempotencyKey(api.IdempotencyKey("report-" + run))}
	first := create(once)
	check(create(once) == first, "made twice")
	second := create(api.CreateIncidentParams{})
	ok("create")

	filter := api.ListIncidentsParams{
		Status:   []api.IncidentStatus{api.IncidentStatusOpen, api.IncidentStatusTriaged},
		Severity: []api.Severity{api.SeverityHigh, api.SeverityCritical},
		Source:   api.NewOptString(run), PerPage: api.NewOptInt32(1),
		Sort: []api.IncidentSort{api.IncidentSortMinusCreatedAt},
	}
	page := as[*api.IncidentSummaryListHeaders](analyst.ListIncidents(ctx, filter)).Response
	check(page.Meta.Total == 2, "total %d", page.Meta.Total)
	check(page.Data[0].ID == second, "the first page is %v", page.Data)
	ok("list")

	filter.Page = api.NewOptInt32(page.Meta.Page + 1)
	page = as[*api.IncidentSummaryListHeaders](analyst.ListIncidents(ctx, filter)).Response
	check(page.Data[0].ID == first, "the next page is %v", page.Data)
	ok("next page")

	return update(analyst, api.IncidentReference(uuid.UUID(first).String()))
}

func update(analyst *api.Client, id api.IncidentReference) api.Incident {
	read := func() *api.IncidentEnvelopeHeaders {
		return as[*api.IncidentEnvelopeHeaders](analyst.GetIncident(ctx, api.GetIncidentParams{ID: id}))
	}
	unchanged := api.UpdateIncidentParams{ID: id, IfMatch: read().ETag}
	raise := api.IncidentUpdate{Severity: api.NewOptSeverity(api.SeverityCritical)}
	raised := as[*api.IncidentEnvelopeHeaders](analyst.UpdateIncident(ctx, &raise, unchanged)).Response.Data
	check(raised.Severity == api.SeverityCritical, "severity %s", raised.Severity)
	ok("update")

	lower := api.IncidentUpdate{Severity: api.NewOptSeverity(api.SeverityLow)}
	stale := as[*api.PreconditionFailedAnswerHeaders](analyst.UpdateIncident(ctx, &lower, unchanged))
	check(stale.Response.Error.Code == "precondition_failed", "code %s", stale.Response.Error.Code)
	kept := read().Response.Data
	check(kept.Severity == api.SeverityCritical, "severity %s", kept.Severity)
	ok("stale")
	return kept
}
