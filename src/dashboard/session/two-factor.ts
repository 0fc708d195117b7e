import { z } from 'zod'
import { postSignIn } from './auth-request.ts'

const NewAuthenticator = z.object({
  /** As apps read it: `otpauth://totp/…?secret=…`. */
  totpURI: z.string(),
  backupCodes: z.array(z.string()),
})
export type NewAuthenticator = z.infer<typeof NewAuthenticator>

/** Nothing is asked for at sign-in before a first code has been verified. */
export async function beginAuthenticator(password: string): Promise<NewAuthenticator> {
  return NewAuthenticator.parse(await postSignIn('/two-factor/enable', { password }))
}

/** Turns a new app on; after a password, completes the sign-in. */
export function verifyCode(code: string): Promise<unknown> {
  return postSignIn('/two-factor/verify-totp', { code })
}

export function verifyBackupCode(code: string): Promise<unknown> {
  return postSignIn('/two-factor/verify-backup-code', { code })
}

export function turnOffAuthenticator(password: string): Promise<unknown> {
  return postSignIn('/two-factor/disable', { password })
}
