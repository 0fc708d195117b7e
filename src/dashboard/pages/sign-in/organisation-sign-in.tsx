import { Button, type ButtonProps, Divider, Stack } from '@mantine/core'
import { IconBuilding } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { readFailure } from '../../api/failure.ts'
import { signInWithOrganisation } from '../../session/sign-in.ts'

interface OrganisationSignInProps {
  /** The host of its provider. */
  organisation: string
  /** The page that it leads to. */
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
      <Divider label="or" />
      <OrganisationButton variant="default" loading={attempt.isPending} onClick={() => attempt.mutate(to)}>
        Sign in with {organisation}
      </OrganisationButton>
    </Stack>
  )
}

/** Names the host of the provider, which may need a second line. */
export function OrganisationButton(props: ButtonProps & Omit<ComponentProps<'button'>, keyof ButtonProps>) {
  return (
    <Button
      leftSection={<IconBuilding size={16} />}
      h="auto"
      mih={36}
      py={6}
      styles={{ label: { whiteSpace: 'normal', overflowWrap: 'anywhere', lineHeight: 1.4 } }}
      {...props}
    />
  )
}

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
