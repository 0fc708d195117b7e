import {
  acknowledgeAlert,
  getAlertSettings,
  listAlerts,
  removeChat,
  setChat,
  testChat,
  updateAlertRules,
  getAlertRecipients,
  setAlertEmails,
} from './alert.ts'
import {
  checkHealth,
  configureCallback,
  getCallbackSetUp,
  getHealth,
  inspectToken,
  registerNumber,
  subscribeApp,
} from './connect.ts'
import { inviteMember, listInvitations, listMembers, removeMember, revokeInvitation, setMemberRole } from './member.ts'
import { countMessages, getMessage, listMessages, sendMessageAgain } from './message.ts'
import { estimateCost, getCosts } from './cost.ts'
import { getOverview, setTimeZone } from './overview.ts'
import { acceptInvitation, getInvitation, getSession, getSignInOptions, joinAccount, listAudit } from './user.ts'
import {
  closeAccountView,
  createAccount,
  getServerFacts,
  listAccounts,
  listSlowEndpoints,
  resumeAccount,
  suspendAccount,
  viewAccount,
} from './operator.ts'
import type { ProcedureTree, SessionProcedure } from '../procedure.ts'
import {
  generateKey,
  getApiAccess,
  regenerateKey,
  revokeKey,
  setAccess,
  setAllowList,
  setTemplateChanges,
} from './public-api.ts'
import { getRequest, listRequests } from './request.ts'
import { listSessions, requestPasswordReset, resetPassword, revokeOtherSessions, revokeSession } from './session.ts'
import {
  addSuppression,
  getSuppressionSettings,
  importSuppressions,
  listSuppressions,
  removeSuppression,
  setSuppressedCategories,
} from './suppression.ts'
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  getTemplateDefinition,
  updateTemplate,
} from './template-changes.ts'
import { listTemplates, sendTest, syncTemplates } from './template.ts'
import {
  addEndpoint,
  countRecoverable,
  disableEndpoint,
  enableEndpoint,
  getPayload,
  getStatistics,
  listActivity,
  listDeliveries,
  listEndpoints,
  recoverDeliveries,
  removeEndpoint,
  retryDelivery,
  revealSecret,
  rotateSecret,
  testEndpoint,
  updateEndpoint,
} from './webhook.ts'
import { deleteView, listViews, renameView, saveView } from './view.ts'
import {
  activateWhatsAppAccount,
  addWhatsAppAccount,
  deactivateWhatsAppAccount,
  listWhatsAppAccounts,
  removeWhatsAppAccount,
  replaceSecrets,
  setDefaultWhatsAppAccount,
  testWhatsAppAccount,
} from './whatsapp-account.ts'

/** The table of contents of the dashboard, in the shape of its tRPC router. */
export const dashboardContracts = {
  settings: {
    session: {
      get: getSession,
      options: getSignInOptions,
      list: listSessions,
      revoke: revokeSession,
      revokeOthers: revokeOtherSessions,
    },
    password: { requestReset: requestPasswordReset, reset: resetPassword },
    invitation: { get: getInvitation, accept: acceptInvitation, join: joinAccount },
    member: {
      list: listMembers,
      setRole: setMemberRole,
      remove: removeMember,
      invite: inviteMember,
      invitations: listInvitations,
      revokeInvitation,
    },
    audit: { list: listAudit },
    publicApi: {
      get: getApiAccess,
      setAccess,
      generateKey,
      regenerateKey,
      revokeKey,
      setAllowList,
      setTemplateChanges,
    },
    whatsAppAccount: {
      list: listWhatsAppAccounts,
      add: addWhatsAppAccount,
      inspectToken,
      subscribe: subscribeApp,
      configureCallback,
      callbackSetUp: getCallbackSetUp,
      register: registerNumber,
      health: getHealth,
      check: checkHealth,
      test: testWhatsAppAccount,
      replaceSecrets,
      setDefault: setDefaultWhatsAppAccount,
      activate: activateWhatsAppAccount,
      deactivate: deactivateWhatsAppAccount,
      remove: removeWhatsAppAccount,
    },
    template: {
      list: listTemplates,
      sync: syncTemplates,
      sendTest,
      definition: getTemplateDefinition,
      create: createTemplate,
      update: updateTemplate,
      delete: deleteTemplate,
      duplicate: duplicateTemplate,
    },
    message: { list: listMessages, count: countMessages, get: getMessage, sendAgain: sendMessageAgain },
    view: { list: listViews, save: saveView, rename: renameView, delete: deleteView },
    overview: { get: getOverview, setTimeZone },
    cost: { get: getCosts, estimate: estimateCost },
    request: { list: listRequests, get: getRequest },
    suppression: {
      list: listSuppressions,
      add: addSuppression,
      remove: removeSuppression,
      import: importSuppressions,
      settings: getSuppressionSettings,
      setCategories: setSuppressedCategories,
    },
    alert: {
      get: getAlertSettings,
      update: updateAlertRules,
      setChat,
      removeChat,
      testChat,
      list: listAlerts,
      acknowledge: acknowledgeAlert,
      recipients: getAlertRecipients,
      setEmails: setAlertEmails,
    },
    webhook: {
      list: listEndpoints,
      add: addEndpoint,
      update: updateEndpoint,
      enable: enableEndpoint,
      disable: disableEndpoint,
      remove: removeEndpoint,
      revealSecret,
      rotateSecret,
      test: testEndpoint,
      deliveries: listDeliveries,
      payload: getPayload,
      retry: retryDelivery,
      countRecoverable,
      recover: recoverDeliveries,
      activity: listActivity,
      statistics: getStatistics,
    },
  },
  operator: {
    account: {
      list: listAccounts,
      create: createAccount,
      suspend: suspendAccount,
      resume: resumeAccount,
      view: viewAccount,
      closeView: closeAccountView,
    },
    server: { get: getServerFacts, slowEndpoints: listSlowEndpoints },
  },
} satisfies ProcedureTree<SessionProcedure>
export type DashboardContracts = typeof dashboardContracts
