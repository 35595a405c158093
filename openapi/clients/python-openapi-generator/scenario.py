"""The scenario of openapi/clients/scenario.json, with the client that openapi-generator makes for Python."""

import actions
import automation
import incidents
from parties import parties

party = parties()
incident = incidents.create(party)
incidents.listed(party, incident)
incidents.update(party, incident)
actions.contain(party, incident)
automation.triage(party, incident)
automation.run(party, incident)
automation.deliver(party)
incidents.invalid(party)
