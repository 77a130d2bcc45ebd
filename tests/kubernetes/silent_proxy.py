#!/usr/bin/env python3
"""A TCP proxy on loopback whose connections can fall silent: silent_proxy.py LISTEN_PORT SERVER_PORT.

SIGUSR1: the connections of now stay open and carry nothing any more, as behind a load balancer whose server died without
a word. Connections that come later work.
"""
import asyncio
import signal
import sys

listen, server = int(sys.argv[1]), int(sys.argv[2])
generation = 0


async def carry(reader, writer, born):
    try:
        while data := await reader.read(65536):
            while generation != born:
                await asyncio.sleep(3600)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    if generation == born:
        writer.close()


async def connected(reader, writer):
    born = generation
    to_server = await asyncio.open_connection("127.0.0.1", server)
    await asyncio.gather(carry(reader, to_server[1], born), carry(to_server[0], writer, born))


def fall_silent():
    global generation
    generation += 1


async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, fall_silent)
    await (await asyncio.start_server(connected, "127.0.0.1", listen)).serve_forever()


asyncio.run(main())
