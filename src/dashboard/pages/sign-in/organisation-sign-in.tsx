import { type MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { type ButtonProps, Divider, Stack } from '@mantine/core'
import { IconBuilding } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { translate } from '../../language/i18n.ts'
import { readFailure } from '../../api/failure.ts'
import { signInWithOrganisation } from '../../session/sign-in.ts'
import { Button } from '../../ui/button.tsx'

interface OrganisationSignInProps {
  /** The host of the provider. */
  organisation: string
  /** The page to open afterwards. */
  to: string
  onProblem: (problem: string | undefined) => void
}

export function OrganisationSignIn({ organisation, to, onProblem }: OrganisationSignInProps) {
  const attempt = useMutation({
    mutationFn: signInWithOrganisation,
    onMutate: () => onProblem(undefined),
    onError: (error) => onProblem(readFailure(error).message),
  })
  return (
    <Stack>
      <Divider label={t`or`} />
      <OrganisationButton variant="default" loading={attempt.isPending} onClick={() => attempt.mutate(to)}>
        <Trans>Sign in with {organisation}</Trans>
      </OrganisationButton>
    </Stack>
  )
}

/** A button that wraps, because its label contains a host name. */
export function OrganisationButton(props: ButtonProps & Omit<ComponentProps<'button'>, keyof ButtonProps>) {
  return (
    <Button
      icon={IconBuilding}
      h="auto"
      mih={36}
      py={6}
      styles={{ label: { whiteSpace: 'normal', overflowWrap: 'anywhere', lineHeight: 1.4 } }}
      {...props}
    />
  )
}

/**
 * Describes the error code that the sign-in page was opened with. Codes come from better-auth or the provider
 * (RFC 6749, 4.1.2.1). Unknown codes are not shown, because anyone can craft such a link.
 */
export function describeOrganisationError(code: string | null): string | undefined {
  if (code === null) return undefined
  return translate(reasons[code] ?? failed)
}

const failed = msg`Sign-in with your organisation failed. Try again. If the problem persists, contact your administrator.`

const late = msg`Sign-in with your organisation expired or continued in another window. Try again.`

const reasons: Partial<Record<string, MessageDescriptor>> = {
  signup_disabled: msg`There is no invitation for the email address that your organisation reported. Ask your administrator for one.`,
  account_not_linked: msg`Your email address is not verified. Verify it at your organisation, or sign in with your password. If it is verified there, ask the operator of this server for a link.`,
  email_is_missing: msg`Your organisation did not report your email address. Contact its administrator, or sign in with your password.`,
  unable_to_link_account: msg`Your email address is already linked to another identity at your organisation. Ask an operator of this server to reset your sign-in.`,
  id_token_invalid: msg`Your organisation's answer could not be verified, so you were not signed in. Contact its administrator, or sign in with your password.`,
  provider_unavailable: msg`The sign-in server of your organisation cannot be reached or is not set up correctly. Try again later, or sign in with your password.`,
  access_denied: msg`Your organisation denied access, or you cancelled the sign-in. Try again, or sign in with your password.`,
  state_mismatch: late,
  state_not_found: late,
}
