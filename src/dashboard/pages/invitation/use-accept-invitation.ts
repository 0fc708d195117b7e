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
  /** Absent for those who are known. */
  name?: string
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
      const { email, accountId } = await settings.invitation.accept.mutate(acceptance)
      return enter({ email, password: acceptance.password }, { accountId, accountName })
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
  { accountId, accountName }: { accountId: string; accountName: string },
): Promise<Destination> {
  try {
    if (password !== undefined) return await enterWithPassword({ email, password }, accountId)
    await signInWithOrganisation('/')
  } catch (error) {
    notifyFailureMessage(`You have joined ${accountName}, but you are not signed in yet. ${readFailure(error).message}`)
  }
  return { path: '/sign-in' }
}

async function enterWithPassword(
  credentials: { email: string; password: string },
  accountId: string,
): Promise<Destination> {
  const { needsCode } = await signIn(credentials)
  return needsCode ? { path: '/sign-in', state: codeNeeded } : { path: `/${accountId}` }
}
