import { pino } from 'pino'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createQueueWatch, findQueueProblems } from '../../../src/webhooks/queue/watch.ts'
import { addEndpoint } from '../../../src/webhooks/endpoints/change.ts'
import { createAccount } from '../../../src/accounts/account.ts'
import { openTestDatabase } from '../../support/database.ts'
import { createEndpointDeps, emitEvents } from '../../support/endpoints.ts'
import { forFile } from '../../support/lifetime.ts'

const database = await forFile(openTestDatabase())

test.each([
  { oldestDueSeconds: 0, codes: [] },
  { oldestDueSeconds: 60, codes: [] },
  { oldestDueSeconds: 61, codes: ['deliveries_late'] },
])('raises $codes if the oldest delivery is $oldestDueSeconds s late', ({ oldestDueSeconds, codes }) => {
  expect(findQueueProblems({ oldestDueSeconds }).map(({ code }) => code)).toEqual(codes)
})

test('logs late deliveries once, and again when they are on time', async () => {
  const logged: { level: number; finding: string; fix?: string }[] = []
  const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) })
  const deps = { ...createEndpointDeps(database), log }
  const { accountId } = await createAccount(deps, { name: 'Late' })
  await addEndpoint(deps, accountId, { url: 'http://127.0.0.1:9/' })
  await emitEvents(deps, accountId)
  const watch = createQueueWatch()
  await sql`update webhook_deliveries set due_at = now() - interval '2 minutes'`.execute(database.db)

  await watch(deps)
  await watch(deps)
  expect(logged).toMatchObject([{ level: 50, finding: 'deliveries_late', fix: expect.any(String) }])

  await sql`update webhook_deliveries set due_at = now() + interval '2 minutes'`.execute(database.db)
  await watch(deps)
  await watch(deps)
  expect(logged.slice(1)).toMatchObject([{ level: 30, finding: 'deliveries_late' }])
})
