/** A source file to mutate, and the test files that must detect the mutants. */
type MutatedFiles = Readonly<Record<string, readonly string[]>>

/** Decisions, parsers, addresses and signatures: tested without a database, so that a mutant dies in milliseconds. */
const pure: MutatedFiles = {
  'src/webhooks/sender/sign.ts': ['test/webhooks/sign.test.ts'],
  'src/whatsapp/callbacks/signature.ts': ['test/whatsapp/callback-signature.test.ts'],
  'src/receiver/verify.ts': ['test/webhooks/receiver.test.ts'],
  'src/webhooks/endpoints/address.ts': ['test/webhooks/address.test.ts'],
  'src/messages/send/idempotency.ts': ['test/messages/fingerprint.test.ts', 'test/messages/replay.test.ts'],
  'src/messages/send/responses.ts': ['test/messages/replay.test.ts'],
  'src/accounts/ip-allow-list.ts': ['test/accounts/ip-allow-list.test.ts', 'test/accounts/allow-list-ranges.test.ts'],
  'src/accounts/rate-limit.ts': ['test/accounts/budget.test.ts'],
  'src/http/limits/call-budget.ts': ['test/http/call-budget.test.ts'],
  'src/messages/status/advance.ts': ['test/messages/status.test.ts', 'test/messages/status-times.test.ts'],
  'src/platform/retry-after.ts': ['test/webhooks/retry.test.ts'],
  'src/webhooks/queue/retry-schedule.ts': ['test/webhooks/retry.test.ts'],
  'src/webhooks/queue/adaptive-window.ts': ['test/webhooks/endpoint-concurrency.test.ts'],
  'src/webhooks/queue/endpoint-limits.ts': ['test/webhooks/endpoint-rate.test.ts'],
  'src/platform/bounded-map.ts': ['test/platform/bounded-map.test.ts'],
  'src/platform/ids.ts': ['test/platform/ids.test.ts'],
  'src/platform/secrets.ts': ['test/platform/secrets.test.ts'],
  'src/http/api/input.ts': ['test/http/json-body.test.ts', 'test/http/validation.test.ts'],
  'src/messages/erasure/number.ts': ['test/messages/number.test.ts'],
  'src/templates/fill/variables.ts': ['test/templates/variables.test.ts'],
  'src/webhooks/alerts/rules/decide.ts': ['test/webhooks/alert-decisions.test.ts'],
  'src/webhooks/alerts/rules/quiet-hours.ts': ['test/webhooks/alert-decisions.test.ts'],
  'src/webhooks/alerts/rules/thresholds.ts': ['test/webhooks/alert-decisions.test.ts'],
}

/** Stores and workers, on PGlite. */
const stores: MutatedFiles = {
  'src/messages/send/idempotency-store.ts': ['test/messages/settle.test.ts', 'test/messages/idempotency.test.ts'],
  'src/messages/send/settle-store.ts': ['test/messages/settle.test.ts', 'test/messages/idempotency-release.test.ts'],
  'src/messages/status/store.ts': ['test/messages/status-times.test.ts', 'test/http/callback-statuses.test.ts'],
  'src/messages/status/stale-pending.ts': ['test/messages/overdue.test.ts'],
  'src/messages/status/outcome-unknown.ts': ['test/messages/outcome-unknown.test.ts'],
  'src/templates/sync-store.ts': ['test/templates/sync.test.ts'],
  'src/webhooks/queue/retention-store.ts': ['test/webhooks/attempt-counts.test.ts', 'test/webhooks/worker.test.ts'],
  'src/webhooks/queue/worker.ts': ['test/webhooks/worker-loop.test.ts'],
  'src/webhooks/queue/claims.ts': ['test/webhooks/claims.test.ts', 'test/http/clock-watch.test.ts'],
  'src/webhooks/queue/attempts.ts': [
    'test/webhooks/attempts.test.ts',
    'test/webhooks/worker-loop.test.ts',
    'test/webhooks/worker.test.ts',
  ],
  'src/webhooks/queue/store.ts': [
    'test/webhooks/claims.test.ts',
    'test/webhooks/attempt-counts.test.ts',
    'test/webhooks/worker.test.ts',
    'test/http/clock-watch.test.ts',
  ],
  'src/messages/suppressions/choices-store.ts': ['test/messages/suppressions.test.ts'],
  'src/webhooks/endpoints/store.ts': [
    'test/webhooks/endpoints.test.ts',
    'test/webhooks/update-endpoint.test.ts',
    'test/webhooks/endpoint-secrets.test.ts',
    'test/accounts/rekey.test.ts',
  ],
  'src/messages/erasure/store.ts': ['test/messages/erasure.test.ts'],
  'src/accounts/store.ts': ['test/accounts/account.test.ts', 'test/accounts/key.test.ts'],
  'src/accounts/authenticate-store.ts': ['test/accounts/rate-limit.test.ts', 'test/accounts/authentication.test.ts'],
  'src/platform/outbox-loop.ts': ['test/platform/outbox-loop.test.ts'],
}

/** Stores whose tests run on PostgreSQL only: PGlite has one connection, so nothing is batched and nothing waits. */
const postgresStores: MutatedFiles = {
  'src/messages/suppressions/store.ts': ['test/messages/suppressions.test.ts'],
  'src/users/store.ts': [
    'test/http/dashboard/people.test.ts',
    'test/http/dashboard/sessions.test.ts',
    'test/http/dashboard/password-reset.test.ts',
  ],
}

export const groups = {
  pure: { files: pure, minPercent: 90 },
  stores: { files: stores, minPercent: 75 },
  'postgres-stores': { files: postgresStores, minPercent: 75 },
} as const

export type Group = keyof typeof groups

export function groupOf(file: string): Group | undefined {
  return (['pure', 'stores', 'postgres-stores'] as const).find((group) => file in groups[group].files)
}

export function testsOf(file: string): string[] {
  return Object.values(groups).flatMap(({ files }) => files[file] ?? [])
}
