import type { Role } from '../../contracts/procedure.ts'
import { composeEmail, type EmailContent } from '../platform/email/compose.ts'

const roleRights = { owner: 'an owner, with full access', viewer: 'a viewer, with read-only access' } satisfies Record<
  Role,
  string
>

interface InvitationFacts {
  accountName: string
  role: Role
  /** Email address of the owner who invites; absent for an operator. */
  invitedBy: string | undefined
  link: string
  expiresAt: Date
  /** The page where members turn alert emails off. */
  emailSettingsUrl: string
}

export function writeInvitation({ accountName, role, invitedBy, link, ...facts }: InvitationFacts): EmailContent {
  const who = invitedBy === undefined ? 'You have been invited' : `${invitedBy} has invited you`
  return composeEmail({
    subject: `Invitation to “${accountName}” on Waybill`,
    paragraphs: [`${who} to the account “${accountName}” on Waybill as ${roleRights[role]}.`, 'Accept the invitation:'],
    link: { label: 'Accept the invitation', url: link },
    closing: [
      `The link works once and expires at ${formatTime(facts.expiresAt)}.`,
      `Members get an email when something stops working. You can turn that off: ${facts.emailSettingsUrl}`,
      'If you did not expect this invitation, ignore this email.',
    ],
  })
}

export function writePasswordReset({ link, expiresAt }: { link: string; expiresAt: Date }): EmailContent {
  return composeEmail({
    subject: 'Set a new password for Waybill',
    paragraphs: ['Somebody asked for a new password for your Waybill account.', 'Set a new password:'],
    link: { label: 'Set a new password', url: link },
    closing: [
      `The link works once and expires at ${formatTime(expiresAt)}.`,
      'If it was not you, ignore this email. Your password stays as it is.',
    ],
  })
}

/** `2026-11-20 09:30 UTC`: the time zone of the reader is unknown. */
function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
