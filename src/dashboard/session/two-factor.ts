import { z } from 'zod'
import { postSignIn } from './auth-request.ts'

const NewAuthenticator = z.object({
  /** The URI that apps read: `otpauth://totp/…?secret=…`. */
  totpURI: z.string(),
  backupCodes: z.array(z.string()),
})
export type NewAuthenticator = z.infer<typeof NewAuthenticator>

/** Sign-in requires codes only after the first code has been verified. */
export async function startAuthenticatorSetup(password: string): Promise<NewAuthenticator> {
  return NewAuthenticator.parse(await postSignIn('/two-factor/enable', { password }))
}

/** Activates a new app, or completes a sign-in after the password. */
export function verifyCode(code: string): Promise<unknown> {
  return postSignIn('/two-factor/verify-totp', { code })
}

export function verifyBackupCode(code: string): Promise<unknown> {
  return postSignIn('/two-factor/verify-backup-code', { code })
}

export function turnOffAuthenticator(password: string): Promise<unknown> {
  return postSignIn('/two-factor/disable', { password })
}
