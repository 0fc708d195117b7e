import { changes } from '../../../contracts/facts/changes.ts'
import type { DashboardContracts } from '../../../contracts/dashboard/index.ts'
import { disabledReasons } from '../../../contracts/facts/deliveries.ts'
import { updateAccount } from '../../accounts/account.ts'
import { getApiAccess } from '../../accounts/api-access.ts'
import { getRecentUse } from '../../accounts/requests/recent-use.ts'
import { generateKey, regenerateKey, revokeKey } from '../../accounts/api-key.ts'
import { setAllowList } from '../../accounts/ip-allow-list.ts'
import { getApiRequest, listApiRequests, summarizeApiRequests } from '../../accounts/requests/list.ts'
import { addWhatsAppAccount } from '../../whatsapp-accounts/add.ts'
import {
  activateWhatsAppAccount,
  deactivateWhatsAppAccount,
  removeWhatsAppAccount,
  setDefaultWhatsAppAccount,
  setMarketing,
  setMessagingAccount,
} from '../../whatsapp-accounts/change.ts'
import { checkNow } from '../../whatsapp-accounts/health/check.ts'
import { readAccountHealth } from '../../whatsapp-accounts/health/read.ts'
import {
  configureCallback,
  readCallbackSetUp,
  registerNumber,
  subscribeStored,
} from '../../whatsapp-accounts/connect/subscribe.ts'
import { inspectToken } from '../../whatsapp-accounts/connect/token.ts'
import { replaceSecrets } from '../../whatsapp-accounts/update.ts'
import { testWhatsAppAccount } from '../../whatsapp-accounts/phone-number.ts'
import { listWhatsAppAccounts } from '../../whatsapp-accounts/whatsapp-account.ts'
import { dropContents, getMessageContent } from '../../messages/contents/contents.ts'
import { getMessageHistory } from '../../messages/queries/read.ts'
import { countMessages, listFailureReasons, searchMessages } from '../../messages/queries/search.ts'
import { getCosts } from '../../messages/costs/costs.ts'
import { estimateCost } from '../../messages/costs/estimate.ts'
import { getOverview } from '../../messages/queries/overview.ts'
import { resolveMessage } from '../../messages/status/outcome-unknown.ts'
import { sendAgain, sendFromDashboard } from '../../messages/send/send-from-dashboard.ts'
import { getSuppressionSettings, setSuppressedCategories } from '../../messages/suppressions/check.ts'
import {
  addSuppression,
  importSuppressions,
  listSuppressionsForUser,
  removeSuppression,
} from '../../messages/suppressions/suppressions.ts'
import { deleteView, listViews, renameView, saveView } from '../../messages/saved-views.ts'
import { createTemplate, duplicateTemplate } from '../../templates/changes/create.ts'
import { getTemplateDefinition } from '../../templates/changes/definition.ts'
import { deleteTemplate } from '../../templates/changes/delete.ts'
import { updateTemplate } from '../../templates/changes/update.ts'
import { listOwnTemplates, listTemplateProblems } from '../../templates/list.ts'
import { syncTemplates } from '../../templates/sync.ts'
import { audited, listAudit } from '../../users/audit/audit.ts'
import { sendTestEmail } from '../../users/emails.ts'
import { removeChat, setChat, testChat } from '../../webhooks/alerts/chat/chat.ts'
import { acknowledgeAlert, listAlerts } from '../../webhooks/alerts/alerts.ts'
import {
  getAlertRecipients,
  getAlertSettings,
  setAlertEmails,
  updateAlertRules,
} from '../../webhooks/alerts/settings.ts'
import { listDeliveries, readPayload, requireDelivery, retryDelivery } from '../../webhooks/deliveries/delivery.ts'
import { countRecoverable, recoverPart } from '../../webhooks/deliveries/recover.ts'
import {
  addEndpoint,
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  updateEndpoint,
} from '../../webhooks/endpoints/change.ts'
import { listEndpoints } from '../../webhooks/endpoints/endpoint.ts'
import { revealSecret, rotateSecret } from '../../webhooks/endpoints/secrets.ts'
import { testEndpoint } from '../../webhooks/endpoints/send-test-event.ts'
import { getStatistics, listActivity } from '../../webhooks/statistics/statistics.ts'
import type { HandlersOf } from '../../pipeline/procedures.ts'
import { createDisplacementRecorder } from '../displacement.ts'
import type { SettingsCall } from './authorize.ts'

type SettingsHandlers<Group extends keyof DashboardContracts['settings']> = HandlersOf<
  DashboardContracts['settings'][Group],
  SettingsCall
>

const messageHandlers: SettingsHandlers<'message'> = {
  list: (deps, _call, { accountId, ...input }) => searchMessages(deps, { accountId }, input),
  count: (deps, _call, { accountId, ...filters }) => countMessages(deps, { accountId }, filters),
  failureReasons: (deps, _call, { accountId, ...filters }) => listFailureReasons(deps, { accountId }, filters),
  get: async (deps, call, input) => {
    const { deliveries, ...history } = await getMessageHistory(deps, input, { withReplies: !call.isOperatorView })
    return { ...history, deliveries: hideSecretsOfUrls(call, deliveries) }
  },
  content: (deps, _call, input) => getMessageContent(deps, input),
  resolve: async (deps, _call, { accountId, messageId, as }) => {
    await resolveMessage(deps, { accountId, messageId }, as)
    return { messageId, status: as }
  },
  sendAgain: (deps, call, input) => sendAgain(deps, call, input),
}

const viewHandlers: SettingsHandlers<'view'> = {
  list: async (deps, call, { accountId }) => ({ items: await listViews(deps, ofUser(call, accountId)) }),
  save: (deps, call, { accountId, ...input }) => saveView(deps, ofUser(call, accountId), input),
  rename: (deps, call, { accountId, ...input }) => renameView(deps, ofUser(call, accountId), input),
  delete: async (deps, call, { accountId, name }) => {
    await deleteView(deps, ofUser(call, accountId), name)
    return { deleted: true }
  },
}

function ofUser(call: SettingsCall, accountId: string) {
  return { accountId, userId: call.user().userId }
}

const overviewHandlers: SettingsHandlers<'overview'> = {
  get: (deps, _call, input) => getOverview(deps, input),
  setTimeZone: async (deps, _call, { accountId, timeZone }) => {
    const account = await updateAccount(deps, accountId, { timeZone })
    return { timeZone: account.timeZone }
  },
}

const costHandlers: SettingsHandlers<'cost'> = {
  get: (deps, _call, input) => getCosts(deps, input),
  estimate: (deps, _call, input) => estimateCost(deps, input),
}

const requestHandlers: SettingsHandlers<'request'> = {
  list: (deps, _call, input) => listApiRequests(deps, input),
  summary: (deps, _call, input) => summarizeApiRequests(deps, input),
  get: (deps, _call, input) => getApiRequest(deps, input),
}

const suppressionHandlers: SettingsHandlers<'suppression'> = {
  list: (deps, _call, { accountId, ...input }) => listSuppressionsForUser(deps, { accountId }, input),
  add: (deps, call, { accountId, ...input }) => addSuppression(deps, { accountId, actor: () => call.actor() }, input),
  remove: (deps, _call, { accountId, ...input }) => removeSuppression(deps, { accountId }, input),
  import: (deps, call, { accountId, ...input }) =>
    importSuppressions(deps, { accountId, actor: () => call.actor() }, input),
  settings: (deps, _call, { accountId }) => getSuppressionSettings(deps, accountId),
  setCategories: (deps, _call, { accountId, categories }) => setSuppressedCategories(deps, accountId, categories),
}

const publicApiHandlers: SettingsHandlers<'publicApi'> = {
  get: (deps, { address }, { accountId }) => getApiAccess(deps, accountId, address),
  recentUse: (deps, _call, { accountId }) => getRecentUse(deps, accountId),
  setAccess: async (deps, _call, { accountId, enabled }) => {
    const { api } = await updateAccount(deps, accountId, { apiEnabled: enabled })
    return { enabled: api === 'enabled' }
  },
  setTemplateChanges: async (deps, _call, { accountId, enabled }) => {
    const { templateChanges } = await updateAccount(deps, accountId, { templateChangesEnabled: enabled })
    return { enabled: templateChanges === 'enabled' }
  },
  setMcp: async (deps, _call, { accountId, enabled }) => {
    const { mcp } = await updateAccount(deps, accountId, { mcpEnabled: enabled })
    return { enabled: mcp === 'enabled' }
  },
  setMessageContents: async (deps, call, { accountId, keptDays }) => {
    await updateAccount(deps, accountId, { messageContentsDays: keptDays })
    // There can be millions of them. They are already hidden, so the request need not wait.
    if (keptDays === null) call.runInBackground(() => dropContents(deps, accountId))
    return { keptDays }
  },
  generateKey: (deps, _call, { accountId }) => generateKey(deps, accountId),
  regenerateKey: (deps, _call, { accountId }) => regenerateKey(deps, accountId),
  revokeKey: (deps, _call, { accountId }) => revokeKey(deps, accountId),
  setAllowList: (deps, _call, { accountId, allowList, replaces }) => setAllowList(deps, accountId, allowList, replaces),
}

const templateHandlers: SettingsHandlers<'template'> = {
  list: (deps, _call, input) => listOwnTemplates(deps, input),
  problems: (deps, _call, input) => listTemplateProblems(deps, input),
  sync: (deps, _call, { accountId }) => syncTemplates(deps, accountId),
  sendTest: (deps, { slot }, { accountId, whatsAppAccountId, ...request }) =>
    sendFromDashboard(deps, { accountId, slot }, { ...request, accountId: whatsAppAccountId }),
  definition: (deps, _call, input) => getTemplateDefinition(deps, input),
  create: (deps, { assertStillAllowed }, { accountId, template, whatsAppAccountId }) =>
    createTemplate(deps, { accountId, assertStillAllowed }, { ...template, accountId: whatsAppAccountId }),
  update: (deps, { assertStillAllowed }, { accountId, template, whatsAppAccountId }) =>
    updateTemplate(deps, { accountId, assertStillAllowed }, { ...template, accountId: whatsAppAccountId }),
  delete: (deps, _call, { accountId, whatsAppAccountId, ...input }) =>
    deleteTemplate(deps, { accountId }, { ...input, accountId: whatsAppAccountId }),
  duplicate: (deps, { assertStillAllowed }, { accountId, whatsAppAccountId, toWhatsAppAccountId, ...input }) =>
    duplicateTemplate(
      deps,
      { accountId, assertStillAllowed },
      { ...input, accountId: whatsAppAccountId, toAccountId: toWhatsAppAccountId },
    ),
}

const auditHandlers: SettingsHandlers<'audit'> = {
  list: (deps, _call, input) => listAudit(deps, input),
  recordExport: () => Promise.resolve({ recorded: true }),
}

const alertHandlers: SettingsHandlers<'alert'> = {
  get: (deps, _call, { accountId }) => getAlertSettings(deps, accountId),
  update: (deps, _call, { accountId, ...rules }) => updateAlertRules(deps, accountId, rules),
  list: async (deps, _call, { accountId }) => ({ items: await listAlerts(deps, accountId) }),
  acknowledge: (deps, call, { accountId, alertId }) => acknowledgeAlert(deps, { accountId, alertId, by: call.actor() }),
  recipients: (deps, call, { accountId }) => getAlertRecipients(deps, { accountId, userId: call.user().userId }),
  setEmails: async (deps, call, { accountId, receives }) => {
    const { userId, email } = call.user()
    const current = await getAlertRecipients(deps, { accountId, userId })
    if (current.receives === receives) return current
    const change = {
      accountId,
      who: email,
      what: receives ? changes.resumeAlertEmails() : changes.stopAlertEmails(),
      address: call.address,
    }
    return audited(deps, change, () => setAlertEmails(deps, { accountId, userId, email }, receives))
  },
  setChat: (deps, _call, { accountId, ...chat }) => setChat(deps, accountId, chat),
  removeChat: (deps, _call, { accountId }) => removeChat(deps, accountId),
  testChat: (deps, _call, { accountId }) => testChat(deps, accountId),
  testEmail: (deps, call, { accountId }) => sendTestEmail(deps, { accountId, email: call.user().email }),
}

const webhookHandlers: SettingsHandlers<'webhook'> = {
  list: async (deps, call, { accountId }) => ({
    items: hideSecretsOfUrls(call, await listEndpoints(deps, accountId)),
  }),
  add: (deps, _call, { accountId, headers, ...input }) =>
    addEndpoint(deps, accountId, { ...input, headers: toPairs(headers) }),
  update: (deps, _call, { accountId, endpointId, headers, ...update }) =>
    updateEndpoint(deps, accountId, endpointId, { ...update, headers: toPairs(headers) }),
  enable: (deps, _call, { accountId, endpointId }) => enableEndpoint(deps, accountId, endpointId),
  disable: (deps, { isCommandLine }, { accountId, endpointId }) =>
    disableEndpoint(deps, accountId, endpointId, {
      reason: isCommandLine ? disabledReasons.byOperator() : disabledReasons.byUser(),
    }),
  remove: (deps, _call, { accountId, endpointId }) => removeEndpoint(deps, accountId, endpointId),
  revealSecret: (deps, _call, { accountId, endpointId }) => revealSecret(deps, accountId, endpointId),
  rotateSecret: (deps, _call, { accountId, endpointId, overlapSeconds }) =>
    rotateSecret(deps, accountId, endpointId, { overlapSeconds }),
  test: (deps, _call, { accountId, endpointId }) => testEndpoint(deps, accountId, endpointId),
  deliveries: (deps, call, { accountId, endpointId, ...filter }) =>
    listDeliveries(deps, accountId, endpointId, { ...filter, withReplies: !call.isOperatorView }),
  retry: async (deps, _call, { accountId, deliveryId }) =>
    retryDelivery(deps, await requireDelivery(deps.db, accountId, deliveryId), deliveryId),
  payload: (deps, _call, { accountId, deliveryId }) => readPayload(deps, accountId, deliveryId),
  countRecoverable: (deps, _call, input) => countRecoverable(deps, input),
  recover: (deps, _call, input) => recoverPart(deps, input),
  activity: (deps, _call, { accountId }) => listActivity(deps, accountId),
  statistics: (deps, _call, { accountId, endpointId, range }) => getStatistics(deps, { accountId, endpointId }, range),
}

/** Operators who view an account see only the origin of a URL: its path and its query can hold a secret. */
function hideSecretsOfUrls<Item extends { url: string }>({ isOperatorView }: SettingsCall, items: Item[]): Item[] {
  return isOperatorView ? items.map((item) => ({ ...item, url: URL.parse(item.url)?.origin ?? '' })) : items
}

function toPairs(headers: { name: string; value: string }[] | undefined) {
  return headers?.map(({ name, value }) => [name, value] as const)
}

const whatsAppAccountHandlers: SettingsHandlers<'whatsAppAccount'> = {
  list: async (deps, _call, { accountId }) => ({ items: await listWhatsAppAccounts(deps, accountId) }),
  add: (deps, _call, { accountId, ...input }) =>
    addWhatsAppAccount(deps, accountId, input, createDisplacementRecorder(deps)),
  inspectToken: (deps, _call, { accessToken }) => inspectToken(deps, accessToken),
  subscribe: (deps, _call, ref) => subscribeStored(deps, ref),
  configureCallback: (deps, _call, ref) => configureCallback(deps, ref),
  callbackSetUp: (deps, _call, ref) => readCallbackSetUp(deps, ref),
  register: (deps, _call, { pin, ...ref }) => registerNumber(deps, ref, pin),
  health: (deps, _call, { accountId, withCounts }) =>
    readAccountHealth(deps, accountId, { withCounts, forDashboard: true }),
  check: async (deps, _call, ref) => {
    await checkNow(deps, ref)
    return readAccountHealth(deps, ref.accountId, { forDashboard: true })
  },
  test: (deps, _call, { accountId, whatsAppAccountId }) => testWhatsAppAccount(deps, accountId, whatsAppAccountId),
  replaceSecrets: (deps, _call, { accountId, whatsAppAccountId, ...secrets }) =>
    replaceSecrets(deps, accountId, whatsAppAccountId, secrets),
  setDefault: (deps, _call, ref) => setDefaultWhatsAppAccount(deps, ref),
  setMarketing: (deps, _call, { setting, ...ref }) => setMarketing(deps, ref, setting),
  setMessagingAccount: (deps, _call, { setting, ...ref }) => setMessagingAccount(deps, ref, setting),
  activate: (deps, _call, ref) => activateWhatsAppAccount(deps, ref),
  deactivate: (deps, _call, ref) => deactivateWhatsAppAccount(deps, ref),
  remove: async (deps, _call, ref) => {
    await removeWhatsAppAccount(deps, ref)
    return { removed: true }
  },
}

/** The settings of an account, which the dashboard and the command line change. */
export const settingsHandlers = {
  audit: auditHandlers,
  message: messageHandlers,
  view: viewHandlers,
  overview: overviewHandlers,
  cost: costHandlers,
  request: requestHandlers,
  suppression: suppressionHandlers,
  publicApi: publicApiHandlers,
  template: templateHandlers,
  alert: alertHandlers,
  webhook: webhookHandlers,
  whatsAppAccount: whatsAppAccountHandlers,
}
