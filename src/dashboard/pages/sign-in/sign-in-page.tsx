import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { DoorPage } from '../../layout/door-page.tsx'
import { readWayBack } from '../../session/way-back.ts'
import { CodeForm } from './code-form.tsx'
import { PasswordForm } from './password-form.tsx'

export function SignInPage() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [search] = useSearchParams()
  const [needsCode, setNeedsCode] = useState(false)
  const enter = async () => {
    // Whoever was here before may have been somebody else.
    queryClient.clear()
    await navigate(readWayBack(search), { replace: true })
  }
  if (needsCode)
    return (
      <DoorPage title="One more step" description="Type the code that your authenticator app shows now.">
        <CodeForm onSignedIn={enter} />
      </DoorPage>
    )
  return (
    <DoorPage title="Sign in" description={search.has('to') ? 'Sign in to see this page.' : undefined}>
      <PasswordForm onSignedIn={enter} onCodeNeeded={() => setNeedsCode(true)} />
    </DoorPage>
  )
}
