"""Asyncio tasks in many threads at once."""
import asyncio
import threading


def errors_of_eighty(task):
    """What is raised by task(seed), a coroutine function, in ten tasks of each of eight threads, a seed each."""
    errors = []

    async def tasks(seed):
        await asyncio.gather(*[task(seed + k) for k in range(10)])

    def thread(seed):
        try:
            asyncio.run(tasks(seed))
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=thread, args=(1000 * k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return errors
