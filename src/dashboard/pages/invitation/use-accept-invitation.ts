import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { readFailure } from '../../api/failure.ts'
import { notifyFailureMessage } from '../../api/notify.ts'
import { settings } from '../../api/settings.ts'
import { signInWithOrganisation } from '../../api/sign-in-organisation.ts'
import { signIn } from '../../api/sign-in.ts'
import { codeNeeded } from '../sign-in/code-needed.ts'

interface Acceptance {
  token: string
  name: string
  /** Absent for those who will sign in with their organisation. */
  password?: string
}

/** A page, and the state that it is shown with. */
interface Destination {
  path: string
  state?: string
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
    onSuccess: async ({ path, state }) => {
      // Whoever was here before may have been somebody else.
      queryClient.clear()
      await navigate(path, { replace: true, state })
    },
    onError: onFailure,
  })
}

/** From here on the link is spent: what fails now is no failure of the invitation. */
async function enter(
  { email, password }: { email: string; password: string | undefined },
  accountName: string,
): Promise<Destination> {
  try {
    if (password !== undefined) return await enterWithPassword({ email, password }, accountName)
    await signInWithOrganisation('/')
  } catch (error) {
    notifyFailureMessage(`You have joined ${accountName}, but you are not signed in yet. ${readFailure(error).message}`)
  }
  return { path: '/sign-in' }
}

async function enterWithPassword(
  credentials: { email: string; password: string },
  accountName: string,
): Promise<Destination> {
  const { needsCode } = await signIn(credentials)
  if (needsCode) return { path: '/sign-in', state: codeNeeded }
  const { accounts } = await settings.session.get.query({})
  const joined = accounts.find(({ name }) => name === accountName)
  return { path: joined ? `/${joined.accountId}` : '/' }
}
