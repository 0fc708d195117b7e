/** A source file to mutate, and the test files that must detect the mutants. */
type MutatedFiles = Readonly<Record<string, readonly string[]>>

/** Decisions, parsers, addresses and signatures: tested without a database, so that a mutant dies in milliseconds. */
const pure: MutatedFiles = {
  'src/webhooks/sender/sign.ts': ['test/webhooks/sender/sign.unit.test.ts'],
  'src/whatsapp/callbacks/signature.ts': ['test/whatsapp/callbacks/signature.unit.test.ts'],
  'src/receiver/verify.ts': ['test/receiver/receiver.unit.test.ts'],
  'src/webhooks/endpoints/address.ts': ['test/webhooks/endpoints/address.unit.test.ts'],
  'src/messages/send/idempotency.ts': [
    'test/messages/send/fingerprint.unit.test.ts',
    'test/messages/send/replay.unit.test.ts',
  ],
  'src/messages/send/responses.ts': ['test/messages/send/replay.unit.test.ts'],
  'src/accounts/ip-allow-list.ts': ['test/accounts/ip-allow-list.unit.test.ts'],
  'src/accounts/rate-limit.ts': ['test/accounts/budget.unit.test.ts'],
  'src/pipeline/budgets.ts': ['test/pipeline/budgets.unit.test.ts'],
  'src/messages/status/advance.ts': ['test/messages/status/advance.unit.test.ts'],
  'src/platform/retry-after.ts': ['test/webhooks/queue/retry.unit.test.ts'],
  'src/webhooks/queue/retry-schedule.ts': ['test/webhooks/queue/retry.unit.test.ts'],
  'src/webhooks/queue/adaptive-window.ts': ['test/webhooks/queue/endpoint-concurrency.unit.test.ts'],
  'src/webhooks/queue/endpoint-limits.ts': ['test/webhooks/queue/endpoint-rate.unit.test.ts'],
  'src/platform/bounded-map.ts': ['test/platform/bounded-map.unit.test.ts'],
  'src/platform/ids.ts': ['test/platform/ids.unit.test.ts'],
  'src/platform/secrets.ts': ['test/platform/secrets.unit.test.ts'],
  'src/http/api/input.ts': ['test/http/api/json-body.unit.test.ts', 'test/http/api/validation.unit.test.ts'],
  'src/messages/erasure/number.ts': ['test/messages/erasure/number.unit.test.ts'],
  'src/templates/fill/variables.ts': ['test/templates/fill/variables.unit.test.ts'],
  'src/webhooks/alerts/rules/decide.ts': ['test/webhooks/alerts/rules/decisions.unit.test.ts'],
  'src/webhooks/alerts/rules/quiet-hours.ts': ['test/webhooks/alerts/rules/decisions.unit.test.ts'],
  'src/webhooks/alerts/rules/thresholds.ts': ['test/webhooks/alerts/rules/decisions.unit.test.ts'],
}

/** Stores and workers, on PGlite. */
const stores: MutatedFiles = {
  'src/messages/send/idempotency-store.ts': [
    'test/messages/send/settle.databases.test.ts',
    'test/messages/send/idempotency.databases.test.ts',
  ],
  'src/messages/send/settle-store.ts': [
    'test/messages/send/settle.databases.test.ts',
    'test/messages/send/idempotency-release.test.ts',
  ],
  'src/messages/status/store.ts': ['test/http/callbacks/statuses.databases.test.ts'],
  'src/messages/status/stale-pending.ts': ['test/messages/status/stale-pending.databases.test.ts'],
  'src/messages/status/outcome-unknown.ts': ['test/messages/status/outcome-unknown.databases.test.ts'],
  'src/templates/sync-store.ts': ['test/templates/sync.databases.test.ts'],
  'src/webhooks/queue/retention-store.ts': [
    'test/webhooks/queue/attempt-counts.databases.test.ts',
    'test/webhooks/queue/worker.databases.test.ts',
  ],
  'src/webhooks/queue/worker.ts': ['test/webhooks/queue/worker-loop.test.ts'],
  'src/webhooks/queue/claims.ts': [
    'test/webhooks/queue/claims.test.ts',
    'test/background/clock-watch.databases.test.ts',
  ],
  'src/webhooks/queue/attempts.ts': [
    'test/webhooks/queue/attempts.test.ts',
    'test/webhooks/queue/worker-loop.test.ts',
    'test/webhooks/queue/worker.databases.test.ts',
  ],
  'src/webhooks/queue/store.ts': [
    'test/webhooks/queue/claims.test.ts',
    'test/webhooks/queue/attempt-counts.databases.test.ts',
    'test/webhooks/queue/worker.databases.test.ts',
    'test/background/clock-watch.databases.test.ts',
  ],
  'src/messages/suppressions/choices-store.ts': ['test/messages/suppressions/suppressions.test.ts'],
  'src/webhooks/endpoints/store.ts': [
    'test/webhooks/endpoints/endpoints.databases.test.ts',
    'test/webhooks/endpoints/change.test.ts',
    'test/webhooks/endpoints/secrets.databases.test.ts',
    'test/accounts/rekey.databases.test.ts',
  ],
  'src/messages/erasure/store.ts': ['test/messages/erasure/erasure.databases.test.ts'],
  'src/accounts/store.ts': ['test/accounts/account.databases.test.ts'],
  'src/accounts/authenticate-store.ts': [
    'test/accounts/rate-limit.databases.test.ts',
    'test/accounts/authentication.test.ts',
  ],
  'src/platform/outbox-loop.ts': ['test/platform/outbox-loop.unit.test.ts'],
}

/** Stores whose tests run on PostgreSQL only: PGlite has one connection, so nothing is batched and nothing waits. */
const postgresStores: MutatedFiles = {
  'src/messages/suppressions/store.ts': ['test/messages/suppressions/suppressions.test.ts'],
  'src/users/store.ts': [
    'test/users/people.test.ts',
    'test/users/sign-in/sessions.test.ts',
    'test/users/password-reset.test.ts',
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
