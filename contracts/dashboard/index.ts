import type { ProcedureTree, SessionProcedure } from '../procedure.ts'
import * as alert from './alert.ts'
import * as connect from './connect.ts'
import * as operatorConsole from './console.ts'
import * as cost from './cost.ts'
import * as member from './member.ts'
import * as message from './message.ts'
import * as overview from './overview.ts'
import * as publicApi from './public-api.ts'
import * as request from './request.ts'
import * as session from './session.ts'
import * as suppression from './suppression.ts'
import * as templateChanges from './template-changes.ts'
import * as template from './template.ts'
import * as user from './user.ts'
import * as view from './view.ts'
import * as webhook from './webhook.ts'
import * as whatsAppAccount from './whatsapp-account.ts'

/** All procedures of the dashboard, nested like its tRPC router. */
export const dashboardContracts = {
  settings: {
    session: {
      get: user.getSession,
      options: user.getSignInOptions,
      list: session.listSessions,
      revoke: session.revokeSession,
      revokeOthers: session.revokeOtherSessions,
    },
    password: { requestReset: session.requestPasswordReset, reset: session.resetPassword },
    invitation: { get: user.getInvitation, accept: user.acceptInvitation, join: user.joinAccount },
    member: {
      list: member.listMembers,
      setRole: member.setMemberRole,
      remove: member.removeMember,
      invite: member.inviteMember,
      invitations: member.listInvitations,
      revokeInvitation: member.revokeInvitation,
    },
    audit: { list: user.listAudit, recordExport: user.recordExport },
    publicApi: {
      get: publicApi.getApiAccess,
      recentUse: publicApi.getRecentUse,
      setAccess: publicApi.setAccess,
      generateKey: publicApi.generateKey,
      regenerateKey: publicApi.regenerateKey,
      revokeKey: publicApi.revokeKey,
      setAllowList: publicApi.setAllowList,
      setTemplateChanges: publicApi.setTemplateChanges,
      setMcp: publicApi.setMcp,
      setMessageContents: publicApi.setMessageContents,
    },
    whatsAppAccount: {
      list: whatsAppAccount.listWhatsAppAccounts,
      add: whatsAppAccount.addWhatsAppAccount,
      inspectToken: connect.inspectToken,
      subscribe: connect.subscribeApp,
      configureCallback: connect.configureCallback,
      callbackSetUp: connect.getCallbackSetUp,
      register: connect.registerNumber,
      health: connect.getHealth,
      check: connect.checkHealth,
      test: whatsAppAccount.testWhatsAppAccount,
      replaceSecrets: whatsAppAccount.replaceSecrets,
      setDefault: whatsAppAccount.setDefaultWhatsAppAccount,
      setMarketing: whatsAppAccount.setMarketing,
      setMessagingAccount: whatsAppAccount.setMessagingAccount,
      activate: whatsAppAccount.activateWhatsAppAccount,
      deactivate: whatsAppAccount.deactivateWhatsAppAccount,
      remove: whatsAppAccount.removeWhatsAppAccount,
    },
    template: {
      list: template.listTemplates,
      problems: template.listTemplateProblems,
      sync: template.syncTemplates,
      sendTest: template.sendTest,
      definition: templateChanges.getTemplateDefinition,
      create: templateChanges.createTemplate,
      update: templateChanges.updateTemplate,
      delete: templateChanges.deleteTemplate,
      duplicate: templateChanges.duplicateTemplate,
    },
    message: {
      list: message.listMessages,
      count: message.countMessages,
      failureReasons: message.listFailureReasons,
      get: message.getMessage,
      content: message.getMessageContent,
      resolve: message.resolveMessage,
      sendAgain: message.sendMessageAgain,
    },
    view: { list: view.listViews, save: view.saveView, rename: view.renameView, delete: view.deleteView },
    overview: { get: overview.getOverview, setTimeZone: overview.setTimeZone },
    cost: { get: cost.getCosts, estimate: cost.estimateCost },
    request: { list: request.listRequests, summary: request.summarizeRequests, get: request.getRequest },
    suppression: {
      list: suppression.listSuppressions,
      add: suppression.addSuppression,
      remove: suppression.removeSuppression,
      import: suppression.importSuppressions,
      settings: suppression.getSuppressionSettings,
      setCategories: suppression.setSuppressedCategories,
    },
    alert: {
      get: alert.getAlertSettings,
      update: alert.updateAlertRules,
      setChat: alert.setChat,
      removeChat: alert.removeChat,
      testChat: alert.testChat,
      testEmail: alert.testEmail,
      list: alert.listAlerts,
      acknowledge: alert.acknowledgeAlert,
      recipients: alert.getAlertRecipients,
      setEmails: alert.setAlertEmails,
    },
    webhook: {
      list: webhook.listEndpoints,
      add: webhook.addEndpoint,
      update: webhook.updateEndpoint,
      enable: webhook.enableEndpoint,
      disable: webhook.disableEndpoint,
      remove: webhook.removeEndpoint,
      revealSecret: webhook.revealSecret,
      rotateSecret: webhook.rotateSecret,
      test: webhook.testEndpoint,
      deliveries: webhook.listDeliveries,
      payload: webhook.getPayload,
      retry: webhook.retryDelivery,
      countRecoverable: webhook.countRecoverable,
      recover: webhook.recoverDeliveries,
      activity: webhook.listActivity,
      statistics: webhook.getStatistics,
    },
  },
  operator: {
    account: {
      list: operatorConsole.listAccounts,
      create: operatorConsole.createAccount,
      suspend: operatorConsole.suspendAccount,
      resume: operatorConsole.resumeAccount,
      view: operatorConsole.viewAccount,
      closeView: operatorConsole.closeAccountView,
    },
    server: { get: operatorConsole.getServerFacts, slowEndpoints: operatorConsole.listSlowEndpoints },
  },
} satisfies ProcedureTree<SessionProcedure>
export type DashboardContracts = typeof dashboardContracts
