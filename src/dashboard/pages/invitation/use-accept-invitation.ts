import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { readFailure } from '../../api/failure.ts'
import { notifyFailureMessage } from '../../api/notify.ts'
import { settings } from '../../api/settings.ts'
import { signInWithOrganisation } from '../../api/sign-in-organisation.ts'
import { signIn } from '../../api/sign-in.ts'
import { signInPath } from '../../session/way-back.ts'
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
  { accountName, setsPassword }: { accountName: string; setsPassword: boolean },
  { onFailure }: { onFailure: (error: unknown) => void },
) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async ({ token, name, password }: Acceptance): Promise<Destination> => {
      const { email, accountId } = await settings.invitation.accept.mutate({ token, name, password })
      // From here on the link is spent: what fails now is no failure of the invitation.
      try {
        return await enter({ email, password }, `/${accountId}`)
      } catch (error) {
        const done = setsPassword ? 'Your password is set' : `You have joined ${accountName}`
        notifyFailureMessage(`${done}, but you are not signed in yet. ${readFailure(error).message}`)
        return { path: signInPath(`/${accountId}`) }
      }
    },
    onSuccess: async ({ path, state }) => {
      // Whoever was here before may have been somebody else.
      queryClient.clear()
      await navigate(path, { replace: true, state })
    },
    onError: onFailure,
  })
}

async function enter(
  { email, password }: { email: string; password: string | undefined },
  to: string,
): Promise<Destination> {
  if (password === undefined) {
    await signInWithOrganisation(to)
    // Whoever is still here has come back from there.
    return { path: signInPath(to) }
  }
  const { needsCode } = await signIn({ email, password })
  return needsCode ? { path: signInPath(to), state: codeNeeded } : { path: to }
}
