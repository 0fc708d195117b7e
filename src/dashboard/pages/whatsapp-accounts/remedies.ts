import type { HealthFinding } from '../../../../contracts/api/account.ts'

const replaceToken = 'Create a new token at Meta, then select Replace token below.'
const register = 'Enter the two-step verification PIN of the number below, and select Register number.'
const setCallback = 'Set the callback URL below.'

/** What to do about a finding where the button or form for it is below. */
const here: Partial<Record<string, string>> = {
  rejected: `${replaceToken} If you have removed the cause at Meta, and the token is still the right one, select Activate.`,
  token_expired: replaceToken,
  token_invalid: replaceToken,
  token_expiring: replaceToken,
  permission_missing: `${replaceToken} It needs the permissions whatsapp_business_messaging and whatsapp_business_management.`,
  app_secret_missing:
    'Copy the app secret from the app dashboard of Meta (App settings → Basic), then select Add app secret below.',
  not_subscribed: 'If that took a new token, select Replace token first. Then select Subscribe below.',
  callback_problem: 'Remove the cause, then set the callback URL below again.',
  callback_missing: setCallback,
  callback_elsewhere: setCallback,
  field_messages_missing: setCallback,
  fields_missing: setCallback,
  number_pending: register,
  number_unverified: register,
  number_disconnected: register,
  no_statuses:
    'Repeat steps 2 and 3 above, and check that the proxy in front of this server passes /webhooks/whatsapp on to it.',
  deactivated: 'Select Activate below to send from it again.',
}

/** On the set-up page, which must not send the reader to the set-up page. */
export function findRemedy({ code, fix }: HealthFinding): string {
  return here[code] ?? fix
}
