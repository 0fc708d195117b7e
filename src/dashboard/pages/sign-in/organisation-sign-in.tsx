import { Divider, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { readFailure } from '../../api/failure.ts'
import { signInWithOrganisation } from '../../api/sign-in-organisation.ts'
import { OrganisationButton } from './organisation-button.tsx'

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
