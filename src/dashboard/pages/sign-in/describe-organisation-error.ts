/**
 * Why the way through an organisation's provider led back to the sign-in page, in words of ours: whoever made
 * the link chose the code. Codes are of better-auth, and of the provider (RFC 6749, 4.1.2.1).
 */
export function describeOrganisationError(code: string | null): string | undefined {
  if (code === null) return undefined
  return reasons[code] ?? failed
}

const failed =
  'Signing in with your organisation did not work. Try again; if it stays so, tell whoever runs this server.'

const late = 'Signing in with your organisation took too long, or went on in another window. Try again.'

const reasons: Partial<Record<string, string>> = {
  signup_disabled:
    'Nobody has invited the e-mail address that your organisation knows you by. Ask whoever runs this server for an invitation.',
  account_not_linked:
    'Your organisation did not say that your e-mail address is verified. Have it verified there, or sign in with your password.',
  email_is_missing:
    'Your organisation did not say what your e-mail address is. Ask whoever looks after sign-in there, or sign in with your password.',
  access_denied: 'Your organisation did not let you in, or you said no. Try again, or sign in with your password.',
  state_mismatch: late,
  state_not_found: late,
}
