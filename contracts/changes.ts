/** Audit log texts for changes in the dashboard and on the command line. */
export const changes = {
  generateKey: () => 'generated the API key',
  regenerateKey: () => 'regenerated the API key',
  revokeKey: () => 'revoked the API key',
  suspendAccount: () => 'suspended the account',
  resumeAccount: () => 'resumed the account',
  switchApi: (enabled: boolean) => `${enabled ? 'enabled' : 'disabled'} API access`,
  setAllowList: (entries: readonly string[]) =>
    entries.length === 0 ? 'emptied the allow-list' : `set the allow-list to ${entries.join(', ')}`,
  setMemberRole: (email: string, role: string) => `changed the role of ${email} to ${role}`,
  removeMember: (email: string) => `removed ${email}`,
  resetPassword: (email: string) => `reset the password of ${email}`,
  inviteMember: (email: string, role: string) => `invited ${email} as ${role}`,
  revokeInvitation: (email: string) => `revoked the invitation of ${email}`,
  switchTemplateChanges: (enabled: boolean) => `${enabled ? 'allowed' : 'forbade'} template changes by the API key`,
  switchMcp: (enabled: boolean) => `turned ${enabled ? 'on' : 'off'} MCP for AI assistants`,
  setMessageContents: (keptDays: number | null) =>
    keptDays === null
      ? 'stopped storing message contents and deleted those stored'
      : `stored message contents for ${keptDays} ${keptDays === 1 ? 'day' : 'days'}`,
  setRateLimit: (perMinute: number) => `set the rate limit to ${perMinute} a minute`,
  setTimeZone: (timeZone: string) => `set the time zone to ${timeZone}`,
  createTemplate: (name: string, language: string) => `created the template ${name} (${language})`,
  updateTemplate: (name: string, language: string) => `changed the template ${name} (${language})`,
  deleteTemplate: (name: string, language?: string) => `deleted the template ${name} (${language ?? 'all languages'})`,
  duplicateTemplate: (name: string, language: string) => `copied the template ${name} (${language})`,
  uploadSample: (format: string) => `uploaded a sample ${format.toLowerCase()} for a template`,
  uploadMedia: () => 'uploaded a file',
  deleteMedia: (mediaId: string) => `deleted the file ${mediaId}`,
  pushTemplates: () => 'pushed template files',
  syncTemplates: () => 'synced the templates',
  addWhatsAppAccount: (phoneNumberId: string, { unverified = false } = {}) =>
    `added the WhatsApp account of phone number ID ${phoneNumberId}${unverified ? ' unverified' : ''}`,
  inspectToken: () => 'checked an access token with WhatsApp',
  updateWhatsAppAccount: (whatsAppAccountId: string, what: readonly string[]) =>
    what.length === 0
      ? `replaced nothing of ${whatsAppAccountId}`
      : `replaced the ${new Intl.ListFormat('en').format(what)} of ${whatsAppAccountId}`,
  checkHealth: (whatsAppAccountId: string) => `checked ${whatsAppAccountId} with WhatsApp`,
  subscribeApp: (whatsAppAccountId: string) => `subscribed the app of ${whatsAppAccountId} to its callbacks`,
  configureCallback: (whatsAppAccountId: string) => `set the callback URL of the app of ${whatsAppAccountId}`,
  registerNumber: (whatsAppAccountId: string) => `registered the phone number of ${whatsAppAccountId}`,
  connectWhatsAppAccount: (phoneNumberId: string) => `connected phone number ID ${phoneNumberId}`,
  makeDefault: (whatsAppAccountId: string) => `made ${whatsAppAccountId} the default`,
  activate: (whatsAppAccountId: string) => `activated ${whatsAppAccountId}`,
  deactivate: (whatsAppAccountId: string) => `deactivated ${whatsAppAccountId}`,
  setMarketing: (whatsAppAccountId: string, setting: string) =>
    `set the marketing endpoint of ${whatsAppAccountId} to ${setting}`,
  removeWhatsAppAccount: (whatsAppAccountId: string) => `removed ${whatsAppAccountId}`,
  sendMessageAgain: (messageId: string) => `sent ${messageId} again`,
  resolveMessage: (messageId: string, as: string) => `resolved ${messageId} as ${as}`,
  eraseRecipient: () => 'erased a recipient',
  exportAccount: () => 'exported the data of the account',
  removeAccount: () => 'removed the account',
  addSuppressions: (count: number) =>
    `added ${count} ${count === 1 ? 'recipient' : 'recipients'} to the suppression list`,
  removeSuppression: () => 'removed a recipient from the suppression list',
  setSuppressedCategories: (categories: readonly string[]) =>
    `set the categories that suppressed recipients do not get to ${['MARKETING', ...categories.filter((one) => one !== 'MARKETING')].join(', ')}`,
  setAlertChat: () => 'set the chat for alerts',
  removeAlertChat: () => 'removed the chat for alerts',
  testAlertChat: () => 'posted a test message to the chat for alerts',
  updateAlertRules: (rules: readonly string[]) =>
    rules.length === 0 ? undefined : `changed ${new Intl.ListFormat('en').format(rules)} of alerts`,
  setAlertEmails: (receives: boolean) => `${receives ? 'resumed' : 'stopped'} alerts by email to themselves`,
  testAlertEmail: () => 'sent themselves a test email for alerts',
  acknowledgeAlert: (alertId: string) => `acknowledged the alert ${alertId}`,
  /** Names the host only, because the rest of the URL often contains a token. */
  addEndpoint: (url: string) =>
    URL.canParse(url) ? `added a webhook endpoint at ${new URL(url).host}` : 'added a webhook endpoint',
  updateEndpoint: (endpointId: string, fields: readonly string[]) =>
    fields.length === 0 ? undefined : `changed ${fields.join(', ')} of the webhook endpoint ${endpointId}`,
  enableEndpoint: (endpointId: string) => `enabled the webhook endpoint ${endpointId}`,
  disableEndpoint: (endpointId: string) => `disabled the webhook endpoint ${endpointId}`,
  removeEndpoint: (endpointId: string) => `removed the webhook endpoint ${endpointId}`,
  testEndpoint: (endpointId: string) => `sent a test event to ${endpointId}`,
  rotateSecret: (endpointId: string) => `rotated the secret of ${endpointId}`,
  retryDelivery: (deliveryId: string) => `retried the delivery ${deliveryId}`,
  recoverDeliveries: (endpointId: string, since: string, error?: string) =>
    `recovered deliveries to ${endpointId} since ${since}${error === undefined ? '' : ` that failed with ${JSON.stringify(error)}`}`,
}
