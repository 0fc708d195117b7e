import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Anchor, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import type { z } from 'zod'
import { translate } from '../language/i18n.ts'
import type { Invitation } from '../../../contracts/dashboard/user.ts'
import { readFailure } from '../api/failure.ts'
import { api } from '../api/client.ts'
import { notifyFailure, notifyFailureMessage, useFormChange } from '../api/use-change.ts'
import { SignedOutLayout } from '../layout/signed-out-layout.tsx'
import { useOptionalSession } from '../session/session.ts'
import {
  codeNeeded,
  type Destination,
  signIn,
  signInPath,
  signInWithOrganisation,
  signOut,
  useSignInOptions,
} from '../session/sign-in.ts'
import { Button, LinkButton } from '../ui/button.tsx'
import { DateTime } from '../ui/date-time.tsx'
import { DescriptionList } from '../ui/lists.tsx'
import { PasswordField } from '../ui/fields.tsx'
import { ErrorAlert, LoadingSkeleton } from '../ui/placeholders.tsx'
import { OrganisationButton } from './sign-in/organisation-sign-in.tsx'
import { Form } from '../ui/form.tsx'

export function InvitationPage() {
  const token = useParams()['token'] ?? ''
  const { data, error, refetch } = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api.invitation.get.query({ token }),
    // If the link is used while the form is open, submitting the form reports it.
    staleTime: Infinity,
  })
  const { organisation, isPending } = useSignInOptions()
  const session = useOptionalSession()
  // A session from before a new password, or from before the address was verified, cannot accept.
  const user = data && !data.setsPassword && !data.replacesCredentials ? session.data : undefined
  if (data && !isPending && !session.isPending)
    return (
      <SignedOutLayout
        title={data.setsPassword ? t`Set a new password` : t`Join ${data.accountName}`}
        description={describe(data)}
      >
        <InvitationDetails invitation={data} />
        {user?.email === data.email && <JoinButton token={token} invitation={data} />}
        {user && user.email !== data.email && <OtherUser email={user.email} invitation={data} />}
        {!user && <AcceptForm token={token} invitation={data} organisation={organisation} />}
      </SignedOutLayout>
    )
  if (error && readFailure(error).code === 'NOT_FOUND') return <InvalidLinkPage message={readFailure(error).message} />
  return (
    <SignedOutLayout title={t`Invitation`}>
      {error ? <ErrorAlert error={error} onRetry={() => refetch()} /> : <LoadingSkeleton />}
    </SignedOutLayout>
  )
}

function describe({ setsPassword, invitedBy }: z.output<typeof Invitation>): string {
  if (setsPassword) return t`The password applies to all your accounts on this server.`
  return invitedBy === undefined
    ? t`You have been invited to this account.`
    : t`${invitedBy} has invited you to this account.`
}

function InvalidLinkPage({ message }: { message: string }) {
  return (
    <SignedOutLayout title={t`This link is no longer valid`} description={message}>
      <LinkButton to="/" variant="default" fullWidth>{t`Sign in`}</LinkButton>
    </SignedOutLayout>
  )
}

const rights = { owner: msg`Owner: full access`, viewer: msg`Viewer: read-only access` }

function InvitationDetails({ invitation }: { invitation: z.output<typeof Invitation> }) {
  return (
    <DescriptionList
      items={[
        { name: t`Account`, value: invitation.accountName },
        { name: t`Email`, value: invitation.email },
        { name: t`Role`, value: translate(rights[invitation.role]) },
        { name: t`Expires`, value: <DateTime at={invitation.expiresAt} /> },
      ]}
    />
  )
}

/** For an invited user who is already signed in. */
function JoinButton({ token, invitation }: { token: string; invitation: z.output<typeof Invitation> }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const join = useMutation({
    mutationFn: () => api.invitation.join.mutate({ token }),
    onSuccess: async ({ accountId }) => {
      // The session names the accounts of the user.
      queryClient.clear()
      await navigate(`/${accountId}`, { replace: true })
    },
  })
  return (
    <Stack mt="lg">
      {join.isError && <ErrorAlert title={t`Invitation not accepted`} error={join.error} />}
      <Button change={join}>
        <Trans>Join {invitation.accountName}</Trans>
      </Button>
    </Stack>
  )
}

/** Shown if another user is signed in in this browser. */
function OtherUser({ email, invitation }: { email: string; invitation: z.output<typeof Invitation> }) {
  const queryClient = useQueryClient()
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: () => queryClient.resetQueries(),
    onError: notifyFailure,
  })
  return (
    <Stack mt="lg">
      <Alert color="yellow" icon={<IconAlertTriangle />} title={t`You are signed in as ${email}`}>
        <Trans>
          This invitation is for {invitation.email}. Sign out to accept it, or ask for an invitation to {email}.
        </Trans>
      </Alert>
      <Button variant="default" change={leave}>{t`Sign out`}</Button>
    </Stack>
  )
}

interface AcceptFormProps {
  token: string
  invitation: z.output<typeof Invitation>
  /** The host of the organisation's provider, if there is one. */
  organisation: string | undefined
}

function AcceptForm({ token, invitation, organisation }: AcceptFormProps) {
  const { setsPassword, replacesCredentials } = invitation
  const [choosesPassword, setChoosesPassword] = useState(setsPassword || organisation === undefined)
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', password: '' },
    validate: { name: (name) => (!setsPassword && name.trim() === '' ? t`Enter your name.` : null) },
  })
  const accept = useFormChange(form, useAcceptance(invitation))
  const submit = form.onSubmit(({ name, password }) =>
    accept.submit({ token, ...(!setsPassword && { name: name.trim() }), ...(choosesPassword && { password }) }),
  )
  return (
    <Form
      onSubmit={submit}
      mt="lg"
      failure={setsPassword ? t`Password not set` : t`Invitation not accepted`}
      problem={accept.problem}
    >
      {replacesCredentials && (
        <Alert color="yellow" icon={<IconAlertTriangle />} title={t`Your email address was not verified yet`}>
          <Trans>
            This link verifies it. When you accept, the password, authenticator app and sessions that were set up for it
            before are removed.
          </Trans>
        </Alert>
      )}
      {/* Without it, password managers store the person's name as the username. */}
      <input type="hidden" autoComplete="username" name="username" value={invitation.email} readOnly />
      {!setsPassword && <TextInput label={t`Your name`} autoComplete="name" {...form.getInputProps('name')} />}
      {choosesPassword ? (
        <>
          <PasswordField
            label={setsPassword ? t`New password` : t`Password`}
            description={
              setsPassword || replacesCredentials
                ? t`At least 12 characters.`
                : t`At least 12 characters. If you can already sign in here, enter your current password.`
            }
            autoComplete="new-password"
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={accept.isPending}>
            {setsPassword ? t`Set password and sign in` : t`Accept and sign in`}
          </Button>
        </>
      ) : (
        <OrganisationButton type="submit" loading={accept.isPending}>
          <Trans>Accept and sign in with {organisation}</Trans>
        </OrganisationButton>
      )}
      {organisation !== undefined && !setsPassword && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          ta="center"
          onClick={() => setChoosesPassword(!choosesPassword)}
        >
          {choosesPassword ? t`Sign in with ${organisation} instead` : t`Use a password instead`}
        </Anchor>
      )}
    </Form>
  )
}

interface Acceptance {
  token: string
  /** Absent if the link sets a new password. */
  name?: string
  /** Absent if the user signs in with their organisation. */
  password?: string
}

/** Accepts the invitation, signs in and opens the account. */
function useAcceptance({ accountName, setsPassword }: { accountName: string; setsPassword: boolean }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  return {
    change: async ({ token, name, password }: Acceptance): Promise<Destination> => {
      const accepted = await acceptUnlessKnown({ token, name, password })
      if (!accepted) return enterWithOrganisation(`/invitation/${token}`)
      const { email, accountId } = accepted
      // The invitation is accepted. Errors from here on concern only the sign-in.
      try {
        return await enter({ email, password }, `/${accountId}`)
      } catch (error) {
        const done = setsPassword
          ? t`Your password is set, but you are not signed in yet.`
          : t`You have joined ${accountName}, but you are not signed in yet.`
        notifyFailureMessage(`${done} ${readFailure(error).message}`)
        return { path: signInPath(`/${accountId}`) }
      }
    },
    invalidates: [],
    onDone: async ({ path, state }: Destination) => {
      // The cache may hold data of another user.
      queryClient.clear()
      await navigate(path, { replace: true, state })
    },
  }
}

/** Returns undefined if the user exists. They sign in with their organisation, and this page then lets them join. */
async function acceptUnlessKnown(acceptance: Acceptance) {
  try {
    return await api.invitation.accept.mutate(acceptance)
  } catch (error) {
    if (readFailure(error).code === 'SIGN_IN_REQUIRED') return undefined
    throw error
  }
}

async function enter(
  { email, password }: { email: string; password: string | undefined },
  to: string,
): Promise<Destination> {
  if (password === undefined) return enterWithOrganisation(to)
  const { needsCode } = await signIn({ email, password })
  return needsCode ? { path: signInPath(to), state: codeNeeded } : { path: to }
}

async function enterWithOrganisation(to: string): Promise<Destination> {
  await signInWithOrganisation(to)
  // Reached only if the user came back without signing in.
  return { path: signInPath(to) }
}
