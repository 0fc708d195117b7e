import { createTemplate, updateTemplate } from '../../contracts/api/template-changes.ts'
import { dashboardContracts } from '../../contracts/dashboard/index.ts'
import { type DashboardProcedure, listProcedures } from '../../contracts/procedure.ts'
import type { RecordedRequest } from '../../src/accounts/requests/store.ts'
import { insertRequests } from '../../src/accounts/requests/store.ts'
import { applyStatuses } from '../../src/messages/status/apply-statuses.ts'
import { createRequestIds } from '../../src/platform/ids.ts'
import { addEndpoint } from '../../src/webhooks/endpoints/change.ts'
import { inviteUser } from '../../src/users/invitation.ts'
import { exampleSend } from './example-send.ts'
import { signedInOwner } from './user.ts'
import type { TestAccount, TestServer } from './server.ts'

const { externalId: _, ...testMessage } = exampleSend

/** Every procedure of the dashboard by its dotted name without `settings.`. */
export function listSettingsContracts(): { name: string; contract: DashboardProcedure }[] {
  return listProcedures<DashboardProcedure>(dashboardContracts.settings)
}

/** An account with a resource of every kind that a procedure refers to. */
export interface PopulatedAccount extends TestAccount {
  messageId: string
  endpointId: string
  deliveryId: string
  /** A request in the log of API requests. */
  requestId: string
  alertId: string
  /** Email addresses of a viewer, and of somebody with a pending invitation. */
  memberEmail: string
  invitedEmail: string
}

export async function createPopulatedAccount(server: TestServer): Promise<PopulatedAccount> {
  const account = await server.account()
  const { endpointId } = await addEndpoint(server.deps, account.accountId, { url: 'http://127.0.0.1:9/' })
  const { messageId, waMessageId } = await account.trpc.message.send.mutate(exampleSend)
  const report = { waMessageId, status: 'delivered' as const, at: new Date(), error: undefined }
  await applyStatuses(server.deps, [{ accountId: account.accountId, messageId, waMessageId, report }])
  const { id: deliveryId } = await server.deps.db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('account_id', '=', account.accountId)
    .executeTakeFirstOrThrow()
  const alertId = server.deps.newId('alr')
  await server.deps.db
    .insertInto('alerts')
    .values({
      account_id: account.accountId,
      id: alertId,
      code: 'endpoint_failing',
      subject_id: endpointId,
      severity: 'warning',
      title: 'The webhook endpoint at 127.0.0.1:9 is failing',
      body: 'Deliveries are retried.',
      opened_at: new Date(),
    })
    .execute()
  const { email: memberEmail } = await signedInOwner(server, account.accountId, { role: 'viewer' })
  const invitedEmail = `invited-${account.accountId}@example.com`
  await inviteUser(server.deps, account.accountId, { email: invitedEmail, role: 'viewer' })
  const requestId = await recordRequest(server, account.accountId)
  return { ...account, requestId, alertId, messageId, endpointId, deliveryId, memberEmail, invitedEmail }
}

async function recordRequest({ deps }: TestServer, accountId: string): Promise<string> {
  const id = createRequestIds(deps.randomBytes)()
  const request: RecordedRequest = {
    accountId,
    keyHash: undefined,
    id,
    method: 'GET',
    path: '/api/v1/message',
    status: 200,
    errorCode: undefined,
    durationMilliseconds: 3,
    keyStart: 'wb_live_00c0de',
    address: '192.0.2.1',
    messageIds: undefined,
    receivedAt: performance.now(),
    externalId: undefined,
    request: undefined,
    answer: undefined,
  }
  await insertRequests(deps.db, [request])
  return id
}

/** An input with the account's own IDs for each procedure of an account. */
export function inputsOf(account: PopulatedAccount): Record<string, object> {
  const { messageId, endpointId, deliveryId, requestId, alertId, whatsAppAccountId, memberEmail, invitedEmail } =
    account
  return {
    'audit.list': {},
    'member.list': {},
    'member.setRole': { email: memberEmail, role: 'owner' },
    'member.remove': { email: memberEmail },
    'member.invite': { email: 'new@example.com', role: 'owner' },
    'member.invitations': {},
    'member.revokeInvitation': { email: invitedEmail },
    'publicApi.get': {},
    'publicApi.recentUse': {},
    'publicApi.setAccess': { enabled: false },
    'publicApi.generateKey': {},
    'publicApi.regenerateKey': {},
    'publicApi.revokeKey': {},
    'publicApi.setTemplateChanges': { enabled: true },
    'publicApi.setMcp': { enabled: true },
    'publicApi.setMessageContents': { keptDays: 30 },
    'cost.get': {},
    'cost.estimate': { to: '34600111222', category: 'UTILITY' },
    'overview.setTimeZone': { timeZone: 'Europe/Madrid' },
    'publicApi.setAllowList': { allowList: ['192.0.2.1'] },
    'whatsAppAccount.list': {},
    'whatsAppAccount.add': { phoneNumberId: '4711', wabaId: '4712', accessToken: 'EAAB' },
    'whatsAppAccount.inspectToken': { accessToken: 'EAAB' },
    'whatsAppAccount.subscribe': { whatsAppAccountId },
    'whatsAppAccount.configureCallback': { whatsAppAccountId },
    'whatsAppAccount.callbackSetUp': { whatsAppAccountId },
    'whatsAppAccount.register': { whatsAppAccountId, pin: '123456' },
    'whatsAppAccount.health': {},
    'whatsAppAccount.check': { whatsAppAccountId },
    'whatsAppAccount.test': { whatsAppAccountId },
    'whatsAppAccount.replaceSecrets': { whatsAppAccountId, accessToken: 'EAAB' },
    'whatsAppAccount.setDefault': { whatsAppAccountId },
    'whatsAppAccount.setMarketing': { whatsAppAccountId, setting: 'cloud_api' },
    'whatsAppAccount.setMessagingAccount': { whatsAppAccountId, setting: 'omit' },
    'whatsAppAccount.activate': { whatsAppAccountId },
    'whatsAppAccount.deactivate': { whatsAppAccountId },
    'whatsAppAccount.remove': { whatsAppAccountId },
    'template.list': { whatsAppAccountId },
    'template.problems': {},
    'template.sync': {},
    'template.create': { template: createTemplate.example.input },
    'template.update': { template: updateTemplate.example.input },
    'template.delete': { name: 'order_shipped', language: 'en' },
    'template.duplicate': { name: 'order_shipped', language: 'en', newName: 'order_sent' },
    'template.definition': { name: 'order_shipped', language: 'en' },
    'template.sendTest': { ...testMessage, whatsAppAccountId },
    'message.list': {},
    'message.count': {},
    'message.failureReasons': {},
    'message.get': { messageId },
    'message.content': { messageId },
    'message.resolve': { messageId, as: 'failed' },
    'message.sendAgain': { messageId, variables: { '1': 'Ada', '2': 'WB-1042' } },
    'view.list': {},
    'view.save': { name: 'Failures', filters: { status: 'failed' } },
    'audit.recordExport': { of: 'messages' },
    'view.rename': { name: 'Failures', newName: 'Failed messages' },
    'view.delete': { name: 'Failed messages' },
    'suppression.list': {},
    'suppression.add': { to: '34600111222' },
    'suppression.remove': { to: '34600111222' },
    'suppression.import': { recipients: ['34600111222'] },
    'suppression.settings': {},
    'suppression.setCategories': { categories: ['UTILITY'] },
    'alert.recipients': {},
    'alert.setEmails': { receives: false },
    'alert.get': {},
    'alert.update': { failureRatePercent: 30 },
    'alert.setChat': { url: 'http://127.0.0.1:9/', format: 'slack' },
    'alert.removeChat': {},
    'alert.testChat': {},
    'alert.testEmail': {},
    'alert.list': {},
    'alert.acknowledge': { alertId },
    'webhook.list': {},
    'webhook.add': { url: 'http://127.0.0.1:9/' },
    'webhook.update': { endpointId, description: 'Orders' },
    'webhook.enable': { endpointId },
    'webhook.disable': { endpointId },
    'webhook.remove': { endpointId },
    'webhook.revealSecret': { endpointId },
    'webhook.rotateSecret': { endpointId },
    'webhook.test': { endpointId },
    'webhook.deliveries': { endpointId },
    'webhook.retry': { deliveryId },
    'webhook.recover': { endpointId, since: '2026-01-01T00:00:00Z' },
    'webhook.countRecoverable': { endpointId, since: '2026-11-20T09:30:00Z' },
    'webhook.payload': { deliveryId },
    'webhook.activity': {},
    'webhook.statistics': { endpointId, range: '24h' },
    'overview.get': {},
    'request.list': {},
    'request.summary': {},
    'request.get': { requestId },
  }
}
