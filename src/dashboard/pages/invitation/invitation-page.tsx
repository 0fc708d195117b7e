import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { readFailure } from '../../api/failure.ts'
import { settings } from '../../api/settings.ts'
import { useSignInOptions } from '../../api/sign-in-options.ts'
import { DoorPage } from '../../layout/door-page.tsx'
import { ErrorAlert } from '../../ui/error-alert.tsx'
import { LoadingSkeleton } from '../../ui/loading-skeleton.tsx'
import { AcceptForm } from './accept-form.tsx'
import { InvitationFacts } from './invitation-facts.tsx'

export function InvitationPage() {
  const token = useParams()['token'] ?? ''
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => settings.invitation.get.query({ token }),
    // The link may be spent while the form is being filled in; the answer to the form will say so.
    staleTime: Infinity,
  })
  const { organisation, isPending } = useSignInOptions()
  if (data && !isPending)
    return (
      <DoorPage
        title={data.setsPassword ? 'Choose a new password' : `Join ${data.accountName}`}
        description={data.setsPassword ? 'It is for all your accounts here.' : 'You were invited to this account.'}
      >
        <InvitationFacts invitation={data} />
        <AcceptForm token={token} invitation={data} organisation={organisation} />
      </DoorPage>
    )
  if (error && readFailure(error).code === 'NOT_FOUND') return <SpentPage message={readFailure(error).message} />
  return (
    <DoorPage title="Invitation">
      {error ? <ErrorAlert error={error} onRetry={() => void refetch()} /> : <LoadingSkeleton />}
    </DoorPage>
  )
}

function SpentPage({ message }: { message: string }) {
  return (
    <DoorPage title="This link no longer works" description={message}>
      <Button component={Link} to="/" variant="default" fullWidth>
        I have accepted it: sign in
      </Button>
    </DoorPage>
  )
}
