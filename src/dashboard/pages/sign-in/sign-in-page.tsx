import { Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { useSignInOptions } from '../../api/sign-in-options.ts'
import { DoorPage } from '../../layout/door-page.tsx'
import { readWayBack } from '../../session/way-back.ts'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { codeNeeded } from './code-needed.ts'
import { CodeStep } from './code-step.tsx'
import { describeOrganisationError } from './describe-organisation-error.ts'
import { OrganisationSignIn } from './organisation-sign-in.tsx'
import { PasswordForm } from './password-form.tsx'

export function SignInPage() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const { organisation } = useSignInOptions()
  const { state } = useLocation()
  const [needsCode, setNeedsCode] = useState(state === codeNeeded)
  const [problem, setProblem] = useState(() => describeOrganisationError(search.get('error')))
  const to = readWayBack(search)
  const enter = async () => {
    // Whoever was here before may have been somebody else.
    queryClient.clear()
    await navigate(to, { replace: true })
  }
  const beginAgain = (reason?: string) => {
    setProblem(reason)
    setNeedsCode(false)
  }
  if (needsCode) return <CodeStep onSignedIn={enter} onBeginAgain={beginAgain} />
  return (
    <DoorPage title="Sign in" description={search.has('to') ? 'Sign in to see this page.' : undefined}>
      <Stack>
        {problem !== undefined && <ErrorAlert title="You are not signed in" error={problem} />}
        <PasswordForm onProblem={setProblem} onSignedIn={enter} onCodeNeeded={() => setNeedsCode(true)} />
        {organisation !== undefined && (
          <OrganisationSignIn organisation={organisation} to={to} onProblem={setProblem} />
        )}
      </Stack>
    </DoorPage>
  )
}
