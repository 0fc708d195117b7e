import { type MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { describeFinding } from './describe-finding.ts'
import { translate } from '../../language/i18n.ts'
import type { HealthFinding } from '../../../../contracts/api/account.ts'

const replaceToken = msg`Create a new token at Meta, then select Replace token below.`
const register = msg`Enter the two-step verification PIN of the number below, and select Register number.`
const setCallback = msg`Set the callback URL below.`

/** Fixes of findings whose button or form is below on the same page. */
const remediesOnPage: Partial<Record<string, MessageDescriptor>> = {
  rejected: msg`Create a new token at Meta, then select Replace token below. If you have removed the cause at Meta, and the token is still the right one, select Activate.`,
  token_expired: replaceToken,
  token_invalid: replaceToken,
  token_expiring: replaceToken,
  permission_missing: msg`Create a new token at Meta, then select Replace token below. It needs the permissions whatsapp_business_messaging and whatsapp_business_management.`,
  app_secret_missing: msg`Copy the app secret from the app dashboard of Meta (App settings → Basic), then select Add app secret below.`,
  not_subscribed: msg`If that took a new token, select Replace token first. Then select Subscribe below.`,
  callback_problem: msg`Remove the cause, then set the callback URL below again.`,
  callback_missing: setCallback,
  callback_elsewhere: setCallback,
  field_messages_missing: setCallback,
  fields_missing: setCallback,
  number_pending: register,
  number_unverified: register,
  number_disconnected: register,
  no_statuses: msg`Repeat steps 2 and 3 above, and check that the proxy in front of this server passes /webhooks/whatsapp on to it.`,
  deactivated: msg`Select Activate below to send from it again.`,
}

/** The fix of a finding on the setup page, which must not refer to the setup page. */
export function findRemedy(finding: HealthFinding): string {
  const remedy = remediesOnPage[finding.code]
  return remedy ? translate(remedy) : describeFinding(finding).fix
}
