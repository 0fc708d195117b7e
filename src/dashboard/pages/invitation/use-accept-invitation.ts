import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { readFailure } from '../../api/failure.ts'
import { notifyFailureMessage } from '../../api/notify.ts'
import { settings } from '../../api/settings.ts'
import { signIn } from '../../api/sign-in.ts'

interface Acceptance {
  token: string
  name: string
  password: string
}

/** Accepts, signs in, and leads to the account. */
export function useAcceptInvitation(
  { accountName }: { accountName: string },
  { onFailure }: { onFailure: (error: unknown) => void },
) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async (acceptance: Acceptance) => {
      const { email } = await settings.invitation.accept.mutate(acceptance)
      return enter({ email, password: acceptance.password }, accountName)
    },
    onSuccess: async (path) => {
      // Whoever was here before may have been somebody else.
      queryClient.clear()
      await navigate(path, { replace: true })
    },
    onError: onFailure,
  })
}

/** From here on the link is spent: what fails now is no failure of the invitation. */
async function enter(credentials: { email: string; password: string }, accountName: string): Promise<string> {
  try {
    const { needsCode } = await signIn(credentials)
    if (needsCode) return '/sign-in'
    const { accounts } = await settings.session.get.query({})
    const joined = accounts.find(({ name }) => name === accountName)
    return joined ? `/${joined.accountId}` : '/'
  } catch (error) {
    notifyFailureMessage(`You have joined ${accountName}, but you are not signed in yet. ${readFailure(error).message}`)
    return '/sign-in'
  }
}
