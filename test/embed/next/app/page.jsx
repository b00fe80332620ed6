import { Chat } from './chat.jsx';

export default async function Page({ searchParams }) {
  const { id } = await searchParams;
  return <Chat id={id} />;
}
